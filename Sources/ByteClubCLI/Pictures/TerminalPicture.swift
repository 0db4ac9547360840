import FoundationEssentials

/// Whole picture files for terminals that decode them.
enum TerminalPicture {
    /// The most letters in one piece of kitty's protocol.
    static let kittyPiece = 4096

    /// Draws a PNG by kitty's protocol in a box of cells below the cursor; the cursor ends below the box.
    ///
    /// kitty, Ghostty and WezTerm support <https://sw.kovidgoyal.net/kitty/graphics-protocol/>. `q=2` suppresses the
    /// terminal's answer, which would arrive as keyboard input.
    static func kitty(png: [UInt8], _ box: PictureBox) -> [UInt8] {
        // Scroll first: with C=1 the cursor stays, and a picture below the last row would be cut off.
        var bytes = [UInt8](repeating: 0x0A, count: box.rows) + Array("\u{1B}[\(box.rows)A".utf8)
        let text = Array(Data(png).base64EncodedData())
        for start in stride(from: 0, to: text.count, by: kittyPiece) {
            let end = min(start + kittyPiece, text.count)
            let first = start == 0 ? "a=T,f=100,q=2,C=1,c=\(box.columns),r=\(box.rows)," : "q=2,"
            bytes += Array("\u{1B}_G\(first)m=\(end < text.count ? 1 : 0);".utf8) + text[start..<end] + [0x1B, 0x5C]
        }
        return bytes + Array("\u{1B}[\(box.rows)B\r".utf8)
    }

    /// Draws a picture file of any format by iTerm2's OSC 1337, as wide as the box and with its own aspect ratio.
    ///
    /// See <https://iterm2.com/documentation-images.html>.
    static func iterm(file: [UInt8], _ box: PictureBox) -> [UInt8] {
        let head = "\u{1B}]1337;File=inline=1;size=\(file.count);width=\(box.columns);height=auto;"
        return Array((head + "preserveAspectRatio=1:").utf8) + Data(file).base64EncodedData() + [0x07, 0x0A]
    }
}
