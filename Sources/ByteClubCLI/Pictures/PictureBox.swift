import ByteClubMedia

/// The cells of a terminal that a picture is drawn in.
struct PictureBox: Hashable, Sendable {
    /// Cells across.
    var columns: Int
    /// Cells down.
    var rows: Int

    /// From this shape on a picture gets the terminal's whole width, as a panorama does.
    private static let wide = 2.0
    /// The most cells across: beyond that a thumbnail has no more to show.
    private static let mostColumns = 240

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// Chooses the cells for a picture.
    ///
    /// A panorama takes the terminal's width and at most 12 rows, 3 for each 20 columns on wider terminals; what is
    /// above and below that is cut off. Any other picture fits `rows` whole.
    ///
    /// - Parameters:
    ///   - width: The picture's pixels across.
    ///   - height: The picture's pixels down.
    ///   - columns: The terminal's width in cells.
    ///   - rows: The most cells down.
    ///   - cell: How much higher than wide a cell is.
    init(width: Int, height: Int, columns: Int, rows: Int, cell: Double = 2) {
        let shape = Double(width) / Double(max(1, height))
        let columns = min(max(1, columns), Self.mostColumns)
        let natural = max(1, Int((Double(columns) / shape / cell).rounded()))
        if shape >= Self.wide {
            self.init(columns: columns, rows: min(natural, max(12, columns * 3 / 20)))
        } else if natural <= max(1, rows) {
            self.init(columns: columns, rows: natural)
        } else {
            let rows = max(1, rows)
            self.init(columns: min(columns, max(1, Int((Double(rows) * shape * cell).rounded()))), rows: rows)
        }
    }
}

extension Picture {
    /// The middle of a picture, as high as the box's shape asks for.
    func cut(to box: PictureBox, cell: Double = 2) -> Picture {
        let wanted = Int((Double(width) * Double(box.rows) * cell / Double(box.columns)).rounded())
        // Within a row of cells the shape may be a little off instead.
        let tolerance = height / max(1, 2 * box.rows)
        guard wanted > 0, wanted + tolerance < height else { return self }
        let start = (height - wanted) / 2 * width * 3
        return Picture(width: width, height: wanted, rgb: Array(rgb[start..<start + wanted * width * 3])) ?? self
    }
}
