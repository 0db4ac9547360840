internal import Glibc

/// How the samples of one axis of a plane cover the pixels of the picture.
struct PlaneAxis: Sendable, Hashable {
    /// The picture's pixels on this axis, at least 1, or equal parts of them.
    let pixels: Int
    /// The pixels or parts that a sample covers, at least 1; one sample covers the fewer remaining ones.
    var step = 1
    /// Whether the pixels left over are the first ones, as in a picture that is to be mirrored, and not the last.
    var startsCut = false

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

    /// Whether the samples are at the same positions as the other axis's.
    func hasSamples(of other: PlaneAxis) -> Bool {
        samples == other.samples && length == other.length
            && (startsCut == other.startsCut || length == Double(samples))
    }
}

/// Brings the samples of one axis to where another axis has them: halves them as often as is harmless, then Lanczos-3.
struct AxisFilter {
    /// The input of Lanczos-3 is at most this many times its output.
    static let longestReduction = 6.0

    /// How often each two samples become their mean.
    let halvings: Int
    /// Nil where the samples stand where they should.
    let kernel: ResampleKernel?

    /// A filter from an axis to another.
    ///
    /// `reduction` is the largest factor for Lanczos-3, from 2 to ``longestReduction``: halving costs a fraction of its
    /// time, and a little of the sharpness when the remaining factor is less than 4.
    init(from source: PlaneAxis, to target: PlaneAxis, reduction: Double = longestReduction) {
        precondition((2...Self.longestReduction).contains(reduction), "the filter's sums are made for this")
        var (own, halvings) = (source, 0)
        while own.length >= reduction * target.length {
            own = own.coarser(by: 2)
            halvings += 1
        }
        self.halvings = halvings
        kernel = own.hasSamples(of: target) ? nil : ResampleKernel(from: own, to: target)
    }

    var changesNothing: Bool { halvings == 0 && kernel == nil }
}

/// The Lanczos-3 weights that make one axis of a picture smaller, in fixed point.
///
/// Whole numbers give the same bytes on every processor.
struct ResampleKernel {
    /// Fraction bits of a weight.
    ///
    /// A weight then fits 16 bits, which processors multiply many of at once.
    static let precision: Int32 = 14

    /// The samples that contribute to one output position.
    struct Window {
        /// The first input position.
        let start: Int
        /// Where the weights of this and the following input positions lie.
        let taps: Range<Int>
    }

    /// One window for each output position.
    private(set) var windows: [Window] = []
    private(set) var weights: [Int16] = []

    init(from source: PlaneAxis, to target: PlaneAxis) {
        let count = source.samples
        let scale = source.length / target.length
        let stretch = max(1, scale)
        for position in 0..<target.samples {
            let centre = target.centre(of: position) * scale
            let first = min(max(0, Int((centre - 3 * stretch).rounded(.up))), count - 1)
            let last = min(count, Int((centre + 3 * stretch).rounded(.down)) + 1)
            let values = (first..<max(last, first + 1)).map {
                Self.lanczos((Double($0) + 0.5 - centre) / stretch)
            }
            let sum = values.reduce(0, +)
            let unit = Double(1 << Self.precision)
            var fixed = values.map { Int16((unit * $0 / sum).rounded()) }
            // The middle gets the rounding error, so that a plain area keeps its value.
            fixed[fixed.count / 2] += Int16((1 << Self.precision) - fixed.reduce(0) { $0 + Int($1) })
            fixed += [Int16](repeating: 0, count: (4 - fixed.count % 4) % 4)
            windows.append(Window(start: first, taps: weights.count..<weights.count + fixed.count))
            weights += fixed
        }
    }

    /// The largest number of weights in a window.
    var longestWindow: Int { windows.reduce(1) { max($0, $1.taps.count) } }

    private static func lanczos(_ x: Double) -> Double {
        guard abs(x) < 3 else { return 0 }
        guard abs(x) > 1e-9 else { return 1 }
        // sin(3a) = 3 sin(a) - 4 sin(a)^3.
        let angle = Double.pi * x
        let square = sin(angle / 3) * sin(angle / 3)
        return square * (9 - 12 * square) / (angle * angle)
    }
}
