import Glibc
import TestSupport

/// A picture in the plain format that vips writes (PPM): a head of text, then three bytes for each pixel.
struct Pixmap {
    let width: Int
    let height: Int
    private let pixels: ArraySlice<UInt8>

    init?(_ path: String) {
        let bytes = Fixture.bytes(at: path)
        // "P6", perhaps lines that begin with a number sign, the size, and the largest value.
        var lines: [String] = []
        var start = 0
        while lines.count < 3, let end = bytes[start...].firstIndex(of: 0x0A) {
            let line = String(decoding: bytes[start..<end], as: UTF8.self)
            if !line.hasPrefix("#") { lines.append(line) }
            start = end + 1
        }
        let size = lines.count == 3 ? lines[1].split(separator: " ").compactMap { Int($0) } : []
        guard size.count == 2, bytes.count - start == size[0] * size[1] * 3 else { return nil }
        (width, height) = (size[0], size[1])
        pixels = bytes[start...]
    }

    /// The peak signal-to-noise ratio in decibels of another picture against this one; nil when they differ in size.
    func ratio(to other: Pixmap) -> Double? {
        guard width == other.width, height == other.height else { return nil }
        var sum = 0
        for (own, their) in zip(pixels, other.pixels) {
            let difference = Int(own) - Int(their)
            sum += difference * difference
        }
        return 10 * log10(65_025 * Double(pixels.count) / Double(max(sum, 1)))
    }
}
