/// A photo in its full size, cut into squares for those who look closely.
///
/// The turned photo has `columns` by `rows` tiles of ``side`` pixels, counted from its top left; those at the right and
/// the bottom are cut where it ends. Each is a baseline JPEG with the photo's colour profile, unless that is long, and
/// no other metadata.
public enum Tiles {
    /// The side of a tile, in pixels: whole blocks of the JPEG, so that cutting costs no more than the decoding and
    /// encoding, and few enough that a view needs little beyond itself.
    public static let side = 512
    /// The longest side in pixels up to which a photo has no tiles: ``Renditions`` show it whole.
    public static let longestWithout = 4096
    /// The longest colour profile of tiles, in bytes: those of cameras and screens are shorter, and hundreds of tiles
    /// repeat it.
    static let longestProfile = 16 << 10

    /// Writes all tiles of a JPEG or PNG file into one file, which ``TileFile`` reads.
    ///
    /// The photo's own pixels are decoded once, with its orientation applied as for ``Renditions``. The file appears
    /// whole or not at all, and is on disk when the call returns.
    ///
    /// Blocks for the decoding and for storage: call it on a thread of its own. It cannot be cancelled; it is bounded
    /// by 512 MiB of memory, which is computed before anything is decoded, 500 million pixels, and about a second for
    /// the scans of a progressive photo.
    ///
    /// - Parameters:
    ///   - path: The photo.
    ///   - output: The file to write; its directory must exist.
    ///   - quality: The JPEG quality, clamped to 1...100.
    ///   - limit: The most bytes that all tiles together may take.
    /// - Throws: `io`, `notAJPEG`, `damaged`, `unsupported`; before anything is decoded `tooSmall` for a photo without
    ///   tiles, and `tooLarge`; `tooLarge` also for tiles that would take more than `limit`, of which none stay.
    public static func write(
        file path: String, to output: String, quality: Int = 82, limit: Int = .max
    ) throws(MediaError) {
        var writer: TileFile.Writer?
        try cut(FileSource(path: path), quality: quality) { (columns, rows, tile) throws(MediaError) in
            if writer == nil { writer = try TileFile.Writer(path: output, columns: columns, rows: rows, limit: limit) }
            try writer?.append(tile)
        }
        try writer?.finish()
    }

    /// Gives each tile, row by row from the top left, with how many columns and rows there are.
    static func cut(
        _ source: borrowing some ByteSource & ~Copyable, quality: Int, budget: DecodeBudget = DecodeBudget(),
        to take: (_ columns: Int, _ rows: Int, _ tile: [UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        let photo = try DecodedPhoto(source, budget: budget) { (width, height, _) throws(MediaError) in
            guard max(width, height) > longestWithout else {
                throw MediaError(.tooSmall, "a photo of \(width)x\(height) pixels has no tiles")
            }
            // A tile as it is cut, as it is turned, and encoded.
            return (8, { _, _ in 9 * side * side })
        }
        let isTurned = photo.orientation >= 5
        let (width, height) = isTurned ? (photo.height, photo.width) : (photo.width, photo.height)
        let (columns, rows) = ((width + side - 1) / side, (height + side - 1) / side)
        let encoder = try JPEGEncoder()
        let metadata = CarriedMetadata(icc: photo.profile.flatMap { $0.count <= longestProfile ? $0 : nil })
        for row in 0..<rows {
            for column in 0..<columns {
                let across = column * side..<min(width, (column + 1) * side)
                let down = row * side..<min(height, (row + 1) * side)
                let tile = photo.raster.part(across, down, orientation: photo.orientation)
                try take(columns, rows, metadata.spliced(into: encoder.encode(tile, quality: quality)))
            }
        }
    }
}
