import ByteClubMedia

/// A terminal to draw pictures on, and the way to draw them.
struct PictureCanvas: Sendable {
    /// How pictures are drawn.
    var way: PictureWay
    /// The terminal's width in cells.
    var columns: Int
    /// The most cells down.
    var rows: Int
    /// The most cells down of a panorama, whose poles are cut away; nil for the usual number.
    var strip: Int?
    /// The pixels of a cell.
    var cell: (width: Int, height: Int)
    /// Whether the terminal supports 24-bit colours, not only 256.
    var hasTrueColor: Bool

    private var cellShape: Double {
        way == .blocks || way == .none ? 2 : Double(cell.height) / Double(cell.width)
    }

    /// The bytes that draw a thumbnail, a JPEG file.
    ///
    /// - Throws: A ``MediaError`` when it cannot be decoded.
    func bytes(jpeg: [UInt8]) throws -> [UInt8] {
        let picture = try Picture(jpeg: jpeg)
        let box = PictureBox(
            width: picture.width, height: picture.height, columns: columns, rows: rows, strip: strip, cell: cellShape)
        let cut = picture.cut(to: box, cell: cellShape)
        if way == .iterm, strip == nil || cut.height == picture.height {
            return TerminalPicture.iterm(file: jpeg, box)
        }
        return try bytes(cut, box)
    }

    /// The bytes that draw a picture with the box's aspect ratio, and marks on it.
    ///
    /// - Throws: A ``MediaError`` when there is no memory.
    func bytes(_ picture: Picture, _ box: PictureBox, marks: [PictureMark] = []) throws -> [UInt8] {
        // A digit is a bit lower than the terminal's letters, so that it is read and covers little.
        let picture = way == .blocks ? picture : picture.marked(marks, scale: cell.height / 8)
        switch way {
        case .none: return []
        case .blocks:
            return HalfBlockPicture.bytes(
                picture.fitted(width: box.columns, height: box.rows * 2), marks: marks, hasTrueColor: hasTrueColor)
        case .kitty: return TerminalPicture.kitty(png: try picture.png(), box)
        case .iterm: return TerminalPicture.iterm(file: try picture.jpeg(quality: 85), box)
        }
    }

    /// The size in pixels at which a box shows every pixel of a picture.
    func pixels(of box: PictureBox) -> (width: Int, height: Int) {
        way == .blocks ? (box.columns, box.rows * 2) : (box.columns * cell.width, box.rows * cell.height)
    }
}

extension Context {
    /// Chooses the way to draw; queries the terminal only when options and environment leave it open.
    func pictureCanvas(_ flag: PictureWay?) async throws -> PictureCanvas {
        let known = PictureWay.known(flag: flag, environment: environment, terminal: terminal)
        let (terminal, environment) = (terminal, environment)
        let way: PictureWay
        if let known {
            way = known
        } else {
            // A signal is handled after the terminal's mode is restored.
            let answer = try await interrupts.cancelling {
                let answer = try terminal.ask(TerminalQuery.pictures)
                try Task.checkCancellation()
                return answer
            }
            way = PictureWay.told(by: answer, environment: environment)
        }
        let rows = terminal.rows() ?? 0
        return PictureCanvas(
            way: way, columns: terminal.columns() ?? 80, rows: max(4, (rows > 0 ? rows : 24) - 3), strip: nil,
            // The size of a small cell, so that no picture is cut off.
            cell: terminal.cell() ?? (8, 16),
            hasTrueColor: ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? ""))
    }
}
