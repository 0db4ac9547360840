import ByteClubMedia

/// Pictures as text: each cell is an upper half block, whose two colours are two pixels.
///
/// Colour codes cost bytes, and a picture may cross a slow line. A pixel close to the current colour therefore sets
/// none, and one close to a colour of the 256-colour palette uses the shorter code. The tolerance is chosen so that a
/// cell takes at most ``bytesPerCell``, if possible.
enum HalfBlockPicture {
    /// The average bytes for a cell.
    static let bytesPerCell = 16

    private static let tolerances = [0, 4, 8, 12, 16, 20, 26, 32, 40]

    /// Draws a picture with one pixel per column and two per row, in lines that reset the colours at their end; marks
    /// are text in place of the cells that they cover.
    static func bytes(_ picture: Picture, marks: [PictureMark] = [], hasTrueColor: Bool) -> [UInt8] {
        let places = MarkPlace.places(of: marks, width: picture.width, height: (picture.height + 1) / 2) { text in
            (text.count + 2, 1)
        }
        let budget = bytesPerCell * picture.width * ((picture.height + 1) / 2)
        var drawn: [UInt8] = []
        for tolerance in tolerances {
            drawn = bytes(picture, places, tolerance, hasTrueColor: hasTrueColor)
            if drawn.count <= budget { break }
        }
        return drawn
    }

    private static func bytes(
        _ picture: Picture, _ places: [MarkPlace], _ tolerance: Int, hasTrueColor: Bool
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in stride(from: 0, to: picture.height, by: 2) {
            var upper = Ink(code: 38, tolerance: tolerance, hasTrueColor: hasTrueColor)
            var lower = Ink(code: 48, tolerance: tolerance, hasTrueColor: hasTrueColor)
            let marks = places.filter { $0.row == row / 2 }
            for column in 0..<picture.width {
                if let mark = marks.first(where: { ($0.column..<$0.column + $0.width).contains(column) }) {
                    guard mark.column == column else { continue }
                    bytes += Array("\u{1B}[\(PictureMark.codes)m \(mark.text) ".utf8)
                    (upper.now, lower.now) = (nil, nil)
                    continue
                }
                let top = picture.pixel(column, row)
                let bottom = picture.pixel(column, min(row + 1, picture.height - 1))
                // Both halves are alike: a space in the background colour is enough.
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

    /// The current colour of one half of the cells.
    private struct Ink {
        /// 38 for the foreground, 48 for the background.
        let code: Int
        let tolerance: Int
        let hasTrueColor: Bool
        var now: RGB?

        func isNear(_ color: RGB) -> Bool { now.map { $0.distance(to: color) <= tolerance } ?? false }

        /// The code that sets the colour; nil when the current one is close enough.
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
