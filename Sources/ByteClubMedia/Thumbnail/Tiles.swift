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
        _ source: some ByteSource, quality: Int, budget: DecodeBudget = DecodeBudget(),
        to take: (_ columns: Int, _ rows: Int, _ tile: [UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        let photo = try decoded(source, budget)
        let isTurned = photo.orientation >= 5
        let stored = photo.raster
        let (width, height) = isTurned ? (stored.height, stored.width) : (stored.width, stored.height)
        let (columns, rows) = ((width + side - 1) / side, (height + side - 1) / side)
        let encoder = try JPEGEncoder()
        let metadata = CarriedMetadata(icc: photo.profile.flatMap { $0.count <= longestProfile ? $0 : nil })
        for row in 0..<rows {
            for column in 0..<columns {
                let across = column * side..<min(width, (column + 1) * side)
                let down = row * side..<min(height, (row + 1) * side)
                let tile = stored.part(across, down, orientation: photo.orientation)
                try take(columns, rows, metadata.spliced(into: encoder.encode(tile, quality: quality)))
            }
        }
    }

    /// The photo's own pixels as they are stored, the EXIF orientation to apply and the colour profile.
    private static func decoded(
        _ source: some ByteSource, _ budget: DecodeBudget
    ) throws(MediaError) -> (raster: Raster, orientation: Int, profile: [UInt8]?) {
        if try PNGDecoder.takes(source) {
            guard source.count <= budget.bytes else { throw MediaError(.tooLarge, "the PNG is too large a file") }
            let bytes = try source.readAll()
            let raster = try PNGDecoder.decode(bytes, budget: budget, work: work)
            return (raster, 1, PNGDecoder.profile(bytes))
        }
        let header = try JPEGHeader(source)
        // Four inks become three colours beside themselves.
        let colours = header.components == 4 ? 3 * header.width * header.height : 0
        try budget.check(
            header, fileBytes: source.count, width: header.width, height: header.height,
            work: work(header.width, header.height) + colours)
        let profile = try CarriedMetadata.profile(of: header, in: source)
        let raster = try JPEGDecoder().decode(source.readAll(), header: header, budget: budget)
        return (raster, Panorama(header: header).orientation, profile)
    }

    /// The bytes that cutting needs beside the pixels of a photo of a size: a tile as it is cut, as it is turned, and
    /// encoded.
    private static func work(_ width: Int, _ height: Int) throws(MediaError) -> Int {
        guard max(width, height) > longestWithout else {
            throw MediaError(.tooSmall, "a photo of \(width)x\(height) pixels has no tiles")
        }
        return 9 * side * side
    }
}
