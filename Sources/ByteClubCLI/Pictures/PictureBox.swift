import ByteClubMedia

/// The cells that a picture occupies.
struct PictureBox: Hashable, Sendable {
    /// Cells across.
    var columns: Int
    /// Cells down.
    var rows: Int

    /// The aspect ratio from which a picture gets the terminal's whole width, as for panoramas.
    private static let wide = 2.0
    /// The most cells across; a thumbnail has no more detail.
    private static let mostColumns = 240

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// Chooses the cells for a picture.
    ///
    /// A panorama uses the terminal's width and at most 12 rows, 3 for each 20 columns on wider terminals; the rest is
    /// cut off at top and bottom. Any other picture fits `rows` completely. `cell` is the ratio of a cell's height to
    /// its width, and `strip` replaces the rows of a panorama.
    init(width: Int, height: Int, columns: Int, rows: Int, strip: Int? = nil, cell: Double = 2) {
        let shape = Double(width) / Double(max(1, height))
        let columns = min(max(1, columns), Self.mostColumns)
        let natural = max(1, Int((Double(columns) / shape / cell).rounded()))
        if shape >= Self.wide {
            self.init(columns: columns, rows: min(natural, max(1, strip ?? max(12, columns * 3 / 20))))
        } else if natural <= max(1, rows) {
            self.init(columns: columns, rows: natural)
        } else {
            let rows = max(1, rows)
            self.init(columns: min(columns, max(1, Int((Double(rows) * shape * cell).rounded()))), rows: rows)
        }
    }
}

extension Picture {
    /// The middle of a picture, cropped in height to the box's aspect ratio.
    func cut(to box: PictureBox, cell: Double = 2) -> Picture {
        let wanted = Int((Double(width) * Double(box.rows) * cell / Double(box.columns)).rounded())
        // Less than half a row of cells is not worth cropping.
        let tolerance = height / max(1, 2 * box.rows)
        guard wanted > 0, wanted + tolerance < height else { return self }
        let start = (height - wanted) / 2 * width * 3
        return Picture(width: width, height: wanted, rgb: Array(rgb[start..<start + wanted * width * 3])) ?? self
    }
}
