import ByteClubMedia

/// Pictures in sixels: rows of six pixels, colour by colour (DEC STD 070, chapter 9).
enum SixelPicture {
    /// Draws a picture pixel by pixel; the cursor is then at the beginning of the line below it.
    static func bytes(_ picture: Picture) -> [UInt8] {
        let table = ColorTable(picture)
        let indices = Dithering.indices(picture, table)
        var bytes = Array("\u{1B}Pq\"1;1;\(picture.width);\(picture.height)".utf8)
        for (index, color) in table.colors.enumerated() {
            // In hundredths.
            let parts = [color.red, color.green, color.blue].map { String((Int($0) * 100 + 127) / 255) }
            bytes += Array("#\(index);2;\(parts.joined(separator: ";"))".utf8)
        }
        for top in stride(from: 0, to: picture.height, by: 6) {
            bytes += band(indices, picture, top)
            bytes.append(UInt8(ascii: "-"))
        }
        return bytes + [0x1B, 0x5C, 0x0D, 0x0A]
    }

    private static func band(_ indices: [UInt8], _ picture: Picture, _ top: Int) -> [UInt8] {
        var columns: [UInt8: [UInt8]] = [:]
        for row in top..<min(top + 6, picture.height) {
            for column in 0..<picture.width {
                let index = indices[row * picture.width + column]
                columns[index, default: [UInt8](repeating: 0, count: picture.width)][column] |= 1 << UInt8(row - top)
            }
        }
        var bytes: [UInt8] = []
        for (index, sixels) in columns.sorted(by: { $0.key < $1.key }) {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "$")) }
            bytes += Array("#\(index)".utf8) + packed(sixels)
        }
        return bytes
    }

    /// Repeated sixels as a number and one of them; empty ones at the end are left out.
    private static func packed(_ sixels: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var start = 0
        let end = (sixels.lastIndex { $0 != 0 } ?? -1) + 1
        while start < end {
            var next = start + 1
            while next < end, sixels[next] == sixels[start] { next += 1 }
            let letter = sixels[start] + 0x3F
            let count = next - start
            bytes += count > 3 ? Array("!\(count)".utf8) + [letter] : [UInt8](repeating: letter, count: count)
            start = next
        }
        return bytes
    }
}
