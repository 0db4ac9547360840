/// How the samples of one axis of a plane cover the pixels of the picture.
struct PlaneAxis: Sendable, Hashable {
    /// The picture's pixels on this axis, at least 1, or equal parts of them.
    let pixels: Int
    /// The pixels or parts that a sample stands for, at least 1; one sample stands for the fewer that are left over.
    let step: Int
    /// Whether the pixels left over are the first ones, as in a picture that is to be mirrored, and not the last.
    let startsCut: Bool

    init(pixels: Int, step: Int = 1, startsCut: Bool = false) {
        self.pixels = pixels
        self.step = step
        self.startsCut = startsCut
    }

    var samples: Int { (pixels + step - 1) / step }

    /// The picture's length, in samples.
    var length: Double { Double(pixels) / Double(step) }

    /// An axis whose samples stand for so many of this one's.
    func coarser(by factor: Int) -> PlaneAxis { PlaneAxis(pixels: pixels, step: factor * step) }

    /// The middle of what a sample covers, in samples from where the picture begins.
    func centre(of sample: Int) -> Double {
        let missing = startsCut ? Double(samples) - length : 0
        return (max(0, Double(sample) - missing) + min(length, Double(sample + 1) - missing)) / 2
    }

    /// Whether the samples stand where those of another axis do.
    func hasSamples(of other: PlaneAxis) -> Bool {
        samples == other.samples && length == other.length
            && (startsCut == other.startsCut || length == Double(samples))
    }
}
