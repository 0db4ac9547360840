/// Pictures by kitty's graphics protocol, which kitty, Ghostty and WezTerm draw.
/// <https://sw.kovidgoyal.net/kitty/graphics-protocol/>
enum KittyPicture {
    /// The most letters of one piece.
    static let piece = 4096

    /// Draws a PNG in a box of cells below the cursor; the cursor is then at the beginning of the line below the box.
    ///
    /// The terminal is asked for no answer, which would arrive as if it had been typed.
    static func bytes(png: [UInt8], _ box: PictureBox) -> [UInt8] {
        // Makes room first: a picture does not scroll the screen when the cursor stays where it is.
        var bytes = [UInt8](repeating: 0x0A, count: box.rows) + Array("\u{1B}[\(box.rows)A".utf8)
        let text = Base64.encoded(png)
        var start = 0
        while start < text.count {
            let end = min(start + piece, text.count)
            let first = start == 0 ? "a=T,f=100,q=2,C=1,c=\(box.columns),r=\(box.rows)," : "q=2,"
            bytes += Array("\u{1B}_G\(first)m=\(end < text.count ? 1 : 0);".utf8)
            bytes += text[start..<end]
            bytes += [0x1B, 0x5C]
            start = end
        }
        return bytes + Array("\u{1B}[\(box.rows)B\r".utf8)
    }
}
