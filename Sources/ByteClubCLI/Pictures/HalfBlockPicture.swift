import ByteClubMedia

/// Pictures of text: each cell is an upper half block, whose two colours are two pixels.
///
/// Colours cost bytes, and a picture may cross a slow line. So what is close enough to the colour that is set already
/// sets none, and what is close enough to one of the 256 colours is written as that; how close is chosen so that a cell
/// takes ``bytesPerCell`` at most, where that can be had.
enum HalfBlockPicture {
    /// The bytes that a cell takes on average.
    static let bytesPerCell = 16

    private static let tolerances = [0, 4, 8, 12, 16, 20, 26, 32, 40]

    /// Draws a picture that has a pixel for each column and two for each row, in lines that end without colour.
    static func bytes(_ picture: Picture, hasTrueColor: Bool) -> [UInt8] {
        let budget = bytesPerCell * picture.width * ((picture.height + 1) / 2)
        var drawn: [UInt8] = []
        for tolerance in tolerances {
            drawn = bytes(picture, tolerance, hasTrueColor: hasTrueColor)
            if drawn.count <= budget { break }
        }
        return drawn
    }

    private static func bytes(_ picture: Picture, _ tolerance: Int, hasTrueColor: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in stride(from: 0, to: picture.height, by: 2) {
            var upper = Ink(code: 38, tolerance: tolerance, hasTrueColor: hasTrueColor)
            var lower = Ink(code: 48, tolerance: tolerance, hasTrueColor: hasTrueColor)
            for column in 0..<picture.width {
                let top = picture.pixel(column, row)
                let bottom = picture.pixel(column, min(row + 1, picture.height - 1))
                // Both halves alike: the colour of the background is enough.
                if lower.isNear(top), lower.isNear(bottom) {
                    bytes.append(0x20)
                    continue
                }
                let codes = [upper.change(to: top), lower.change(to: bottom)].compactMap { $0 }
                if !codes.isEmpty { bytes += Array("\u{1B}[\(codes.joined(separator: ";"))m".utf8) }
                bytes += [0xE2, 0x96, 0x80]
            }
            bytes += Array("\u{1B}[0m\n".utf8)
        }
        return bytes
    }

    /// The colour of one half of the cells that follow.
    private struct Ink {
        /// 38 for the text's colour, 48 for that of the background.
        let code: Int
        let tolerance: Int
        let hasTrueColor: Bool
        private var now: RGB?

        init(code: Int, tolerance: Int, hasTrueColor: Bool) {
            self.code = code
            self.tolerance = tolerance
            self.hasTrueColor = hasTrueColor
        }

        func isNear(_ color: RGB) -> Bool { now.map { $0.distance(to: color) <= tolerance } ?? false }

        /// What sets the colour; nil when it is near enough already.
        mutating func change(to color: RGB) -> String? {
            if isNear(color) { return nil }
            let (index, indexed) = TerminalPalette.nearest(to: color)
            if !hasTrueColor || indexed.distance(to: color) <= min(tolerance, 20) {
                if now == indexed { return nil }
                now = indexed
                return "\(code);5;\(index)"
            }
            now = color
            return "\(code);2;\(color.red);\(color.green);\(color.blue)"
        }
    }
}
