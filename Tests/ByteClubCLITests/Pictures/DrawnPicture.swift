import ByteClubMedia

@testable import ByteClubCLI

/// The pixels that a terminal draws, decoded independently from the protocols.
struct DrawnPicture {
    /// Pixels across and down.
    let width: Int
    let height: Int
    /// Three bytes a pixel.
    private(set) var rgb: [UInt8]

    private init(width: Int, height: Int) {
        self.width = width
        self.height = height
        rgb = [UInt8](repeating: 0, count: width * height * 3)
    }

    /// The PSNR to a picture of the same size, in decibels.
    func psnr(to picture: Picture) -> Double {
        guard picture.rgb.count == rgb.count else { return 0 }
        var sum = 0
        for (a, b) in zip(rgb, picture.rgb) { sum += (Int(a) - Int(b)) * (Int(a) - Int(b)) }
        // 10 log10(255² / mean), by halvings of 3.0103 dB: exact enough for a bound.
        let ratio = 65_025 / max(1e-9, Double(sum) / Double(rgb.count))
        return 3.0103 * (Double(ratio.exponent) + (ratio.significand - 1))
    }

    private mutating func set(_ column: Int, _ row: Int, _ color: [UInt8]) {
        guard column < width, row < height, color.count == 3 else { return }
        for channel in 0..<3 { rgb[(row * width + column) * 3 + channel] = color[channel] }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { Int(String(decoding: bytes, as: UTF8.self)) ?? -1 }

    /// Half blocks in colours that SGR 38 and 48 set; nil for any other escape sequence or letter.
    init?(halfBlocks bytes: [UInt8], width: Int, height: Int) {
        self.init(width: width, height: height)
        var (column, row, place) = (0, 0, 0)
        var (text, back): ([UInt8], [UInt8]) = ([0, 0, 0], [0, 0, 0])
        while place < bytes.count {
            switch bytes[place] {
            case 0x1B:
                guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "m")) else { return nil }
                var codes = bytes[(place + 2)..<end].split(separator: UInt8(ascii: ";")).map(Self.number)[...]
                place = end + 1
                while let code = codes.popFirst(), code != 0 {
                    var color: [UInt8] = []
                    if codes.popFirst() == 5, let index = codes.popFirst() {
                        color = Self.indexed(index)
                    } else {
                        for _ in 0..<3 { color.append(UInt8(clamping: codes.popFirst() ?? 0)) }
                    }
                    if code == 38 { text = color } else if code == 48 { back = color } else { return nil }
                }
            case 0x0A:
                (column, row, place) = (0, row + 2, place + 1)
            case 0x20, 0xE2:
                let isBlank = bytes[place] == 0x20
                set(column, row, isBlank ? back : text)
                set(column, row + 1, back)
                (column, place) = (column + 1, place + (isBlank ? 1 : 3))
            default: return nil
            }
        }
    }

    /// xterm's colours, by their published formula.
    private static func indexed(_ index: Int) -> [UInt8] {
        if index >= 232 { return [UInt8](repeating: UInt8(clamping: (index - 232) * 10 + 8), count: 3) }
        let digits = [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6]
        return digits.map { $0 == 0 ? 0 : UInt8(clamping: 55 + 40 * $0) }
    }
}
