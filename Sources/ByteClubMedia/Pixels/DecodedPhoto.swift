/// A JPEG or PNG file's own pixels, as they are stored, with what showing them needs.
struct DecodedPhoto {
    /// How to decode a photo of a stored size and orientation: at how many eighths of its size, and with how many bytes
    /// beside its pixels; PNG files are decoded whole.
    typealias Demand = (_ width: Int, _ height: Int, _ orientation: Int) throws(MediaError) -> (
        eighths: Int, work: Work
    )
    /// The bytes that processing needs beside pixels of a size.
    typealias Work = (_ width: Int, _ height: Int) -> Int

    /// The stored size, of which ``raster`` may be a part only.
    let width: Int
    let height: Int
    /// The EXIF orientation to apply, 1 to 8.
    let orientation: Int
    /// The colour profile; nil without one.
    let profile: [UInt8]?
    let raster: Raster

    /// Decodes a file once; the cost is compared with the budget before.
    ///
    /// - Throws: `io`, `notAJPEG`, `damaged`, `unsupported`; `tooLarge`, and what `demand` throws, before anything is
    ///   decoded.
    init(
        _ source: borrowing some ByteSource & ~Copyable, budget: DecodeBudget, for demand: Demand
    ) throws(MediaError) {
        if try PNGDecoder.takes(source) {
            guard source.count <= budget.bytes else { throw MediaError(.tooLarge, "the PNG is too large a file") }
            let bytes = try source.readAll()
            raster = try PNGDecoder.decode(bytes, budget: budget) { (width, height) throws(MediaError) in
                try demand(width, height, 1).work(width, height)
            }
            (width, height, orientation) = (raster.width, raster.height, 1)
            profile = PNGDecoder.profile(bytes)
        } else {
            let header = try JPEGHeader(source)
            (width, height) = (header.width, header.height)
            orientation = Panorama(header: header).orientation
            let (eighths, work) = try demand(width, height, orientation)
            let scaled = (
                JPEGDecoder.scaled(width, eighths: eighths), JPEGDecoder.scaled(height, eighths: eighths)
            )
            // Four inks become three colours beside themselves.
            let colours = header.components == 4 ? 3 * scaled.0 * scaled.1 : 0
            try budget.check(
                header, fileBytes: source.count, width: scaled.0, height: scaled.1,
                work: work(scaled.0, scaled.1) + colours)
            profile = try CarriedMetadata.profile(of: header, in: source)
            raster = try JPEGDecoder().decode(source.readAll(), header: header, eighths: eighths, budget: budget)
        }
    }
}
