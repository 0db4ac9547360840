import ByteClubMedia
import FoundationEssentials

/// Draws pictures as text: each cell is an upper half block, whose two colours are two pixels.
enum Drawing {
    /// A JPEG or PNG in lines for a terminal, no larger than the given size.
    ///
    /// It blocks for the decoding, which the transfers do not notice: their session has its own thread.
    static func lines(ofPictureAt path: String, columns: Int, rows: Int) throws(MediaError) -> String {
        let small = try Thumbnail.make(file: path, width: columns, height: rows * 2, format: .jpeg, quality: 95)
        let picture = try Picture(jpeg: small)
        let variable = ProcessInfo.processInfo.environment["COLORTERM"] ?? ""
        let hasAllColours = variable.contains("truecolor") || variable.contains("24bit")
        var text = ""
        for row in stride(from: 0, to: picture.height, by: 2) {
            for column in 0..<picture.width {
                let upper = color(picture, column, row, hasAllColours)
                let lower = color(picture, column, min(row + 1, picture.height - 1), hasAllColours)
                text += "\u{1B}[38;\(upper);48;\(lower)m\u{2580}"
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }

    /// A pixel's colour as a terminal knows it: all of it, or the nearest of the 216 in the palette's cube.
    private static func color(_ picture: Picture, _ column: Int, _ row: Int, _ hasAllColours: Bool) -> String {
        let start = (row * picture.width + column) * 3
        let (red, green, blue) = (Int(picture.rgb[start]), Int(picture.rgb[start + 1]), Int(picture.rgb[start + 2]))
        if hasAllColours { return "2;\(red);\(green);\(blue)" }
        return "5;\(16 + (red * 5 + 127) / 255 * 36 + (green * 5 + 127) / 255 * 6 + (blue * 5 + 127) / 255)"
    }
}
