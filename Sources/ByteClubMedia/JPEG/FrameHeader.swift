/// A start-of-frame segment (ITU T.81, B.2.2).
struct FrameHeader: Sendable, Hashable {
    struct Component: Sendable, Hashable {
        let number: UInt8
        let horizontal: Int
        let vertical: Int
    }

    /// The low byte of the marker: 0xC0 baseline, 0xC2 progressive, and so on.
    let marker: UInt8
    let precision: Int
    let width: Int
    let height: Int
    let components: [Component]

    /// Reads the body that follows the segment's length.
    init(marker: UInt8, body: [UInt8]) throws(MediaError) {
        guard body.count >= 6, let height = body.uint16(at: 1), let width = body.uint16(at: 3) else {
            throw MediaError(.damaged, "the JPEG's frame header is cut short")
        }
        let count = Int(body[5])
        guard width > 0, height > 0, (1...4).contains(count), body.count >= 6 + 3 * count else {
            throw MediaError(
                .damaged, "the JPEG's frame header makes no sense (\(width)x\(height), \(count) components)")
        }
        self.marker = marker
        self.precision = Int(body[0])
        self.width = width
        self.height = height
        self.components = (0..<count).map { index in
            let sampling = body[6 + 3 * index + 1]
            return Component(
                number: body[6 + 3 * index], horizontal: Int(sampling >> 4), vertical: Int(sampling & 15))
        }
        guard components.allSatisfy({ (1...4).contains($0.horizontal) && (1...4).contains($0.vertical) }) else {
            throw MediaError(.damaged, "the JPEG's sampling factors make no sense")
        }
    }

    var isProgressive: Bool { marker == 0xC2 || marker == 0xC6 || marker == 0xCA || marker == 0xCE }

    var isArithmetic: Bool { marker >= 0xC8 }

    /// How the chroma of a picture in three components is sampled; nil for a way that TurboJPEG has no name for.
    var chromaSampling: YCbCrPicture.Sampling? {
        guard components.count == 3, components.dropFirst().allSatisfy({ $0.horizontal == 1 && $0.vertical == 1 })
        else { return nil }
        return YCbCrPicture.Sampling.allCases.first {
            $0.across == components[0].horizontal && $0.down == components[0].vertical
        }
    }

    /// Bytes of all coefficients, two for each, as libjpeg keeps them for a picture of more than one scan.
    var coefficientBytes: Int { components.reduce(0) { $0 + blocks(of: $1) * 128 } }

    /// How many blocks of 64 coefficients the components of a number have, none when there is none of it; of several
    /// with one number the largest counts.
    func blocks(ofComponent number: UInt8) -> Int {
        components.filter { $0.number == number }.map(blocks).max() ?? 0
    }

    private func blocks(of component: Component) -> Int {
        let across = components.map(\.horizontal).max() ?? 1
        let down = components.map(\.vertical).max() ?? 1
        let columns = (width + 8 * across - 1) / (8 * across)
        let rows = (height + 8 * down - 1) / (8 * down)
        return columns * component.horizontal * rows * component.vertical
    }

    /// Whether a marker's low byte starts a frame: C0 to CF without DHT (C4), JPG (C8) and DAC (CC).
    static func isStartOfFrame(_ marker: UInt8) -> Bool {
        (0xC0...0xCF).contains(marker) && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
    }
}
