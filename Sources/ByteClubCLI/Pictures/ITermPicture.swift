/// Pictures as iTerm2 takes them: any file of a picture as it is, by OSC 1337. <https://iterm2.com/documentation-images.html>
enum ITermPicture {
    /// Draws a picture's file as wide as the box, as high as its shape asks for.
    static func bytes(file: [UInt8], _ box: PictureBox) -> [UInt8] {
        let head = "\u{1B}]1337;File=inline=1;size=\(file.count);width=\(box.columns);height=auto;"
        return Array((head + "preserveAspectRatio=1:").utf8) + Base64.encoded(file) + [0x07, 0x0A]
    }
}
