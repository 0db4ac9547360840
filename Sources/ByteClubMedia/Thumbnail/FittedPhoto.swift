/// A photo decoded to a picture of a size, of which smaller ones can be made.
struct FittedPhoto: Sendable {
    /// How a photo is decoded.
    struct Options: Sendable {
        /// Whether a preview that is large enough may stand for the photo.
        var usesPreviews = false
        /// Whether red, green and blue are needed, or else what makes the least work.
        var isRGB = false
        /// The longest file that is read, in bytes.
        var largestSource = Int.max
        var budget = DecodeBudget()
    }

    /// The picture, the right way up.
    let pixels: PhotoPixels
    /// The colour profile of the pixels.
    let profile: [UInt8]?
    /// Whether the picture is made from a preview, and has been through an encoder twice.
    let isOfPreview: Bool

    /// Decodes a JPEG or PNG file to a picture that fits inside a box and is never enlarged.
    ///
    /// - Throws: `io`, `notAJPEG`, `damaged`, `unsupported`, and `tooLarge` before anything is decoded.
    init(_ source: some ByteSource, box: (width: Int, height: Int), options: Options) throws(MediaError) {
        if try PNGDecoder.takes(source) {
            try self.init(png: Self.bytes(source, options), box: box, options: options)
        } else {
            try self.init(jpeg: source, box: box, options: options)
        }
    }

    private init(png bytes: [UInt8], box: (width: Int, height: Int), options: Options) throws(MediaError) {
        let decoded = try PNGDecoder.decode(bytes, budget: options.budget) { width, height in
            let plan = ThumbnailPlan(width: width, height: height, orientation: 1, box: box)
            return Self.work(width, height, plan, isPlanar: false)
        }
        let plan = ThumbnailPlan(width: decoded.width, height: decoded.height, orientation: 1, box: box)
        pixels = .raster(decoded.resampled(width: plan.width, height: plan.height))
        profile = PNGDecoder.profile(bytes)
        isOfPreview = false
    }

    private init(jpeg source: some ByteSource, box: (width: Int, height: Int), options: Options) throws(MediaError) {
        let header = try JPEGHeader(source)
        let orientation = Panorama(header: header).orientation
        let plan = ThumbnailPlan(
            width: header.width, height: header.height, orientation: orientation, box: box,
            scales: PhotoPixels.scales(for: header, isRGB: options.isRGB))
        let width = JPEGDecoder.scaled(header.width, eighths: plan.eighths)
        let height = JPEGDecoder.scaled(header.height, eighths: plan.eighths)
        try options.budget.check(
            header, fileBytes: source.count, width: width, height: height,
            work: Self.work(
                width, height, plan, isPlanar: PhotoPixels.isPlanar(header, isRGB: options.isRGB)))
        profile = try CarriedMetadata.profile(of: header, in: source)
        let decoded: PhotoPixels
        if let preview = try Self.preview(of: header, in: source, plan: plan, options: options) {
            decoded = preview
            isOfPreview = true
        } else {
            decoded = try PhotoPixels(
                jpeg: Self.bytes(source, options), header: header, eighths: plan.eighths, isRGB: options.isRGB,
                budget: options.budget)
            isOfPreview = false
        }
        pixels = decoded.resampled(width: plan.width, height: plan.height, orientation: orientation)
    }

    /// The pixels of a preview that suffices; nil without one, or when it is broken.
    private static func preview(
        of header: JPEGHeader, in source: some ByteSource, plan: ThumbnailPlan, options: Options
    ) throws(MediaError) -> PhotoPixels? {
        let target = (plan.width, plan.height)
        guard options.usesPreviews, source.count <= options.largestSource,
            let (own, bytes) = try EmbeddedPreview.standIn(for: header, in: source, target: target)
        else { return nil }
        let scale = ThumbnailPlan(
            width: own.width, height: own.height, orientation: 1, box: target,
            scales: PhotoPixels.scales(for: own, isRGB: options.isRGB)
        ).eighths
        return try? PhotoPixels(
            jpeg: bytes, header: own, eighths: scale, isRGB: options.isRGB, budget: options.budget)
    }

    /// A whole file, unless it is above the limits.
    private static func bytes(_ source: some ByteSource, _ options: Options) throws(MediaError) -> [UInt8] {
        let limit = min(options.largestSource, options.budget.bytes)
        guard source.count <= limit else {
            throw MediaError(.tooLarge, "photos over \(limit >> 20) MiB have no thumbnail")
        }
        return try source.readAll()
    }

    /// The bytes that the filter needs beside the decoded ones, for a size and turned pixels.
    private static func work(_ width: Int, _ height: Int, _ plan: ThumbnailPlan, isPlanar: Bool) -> Int {
        // Of planes one at a time is filtered, and chroma is shrunk before as a rule.
        let isShrunk = isPlanar || Double(height) >= AxisFilter.longestReduction * Double(plan.height)
        let shrunk = isShrunk ? min(height / 2, Int(AxisFilter.longestReduction) * plan.height) : 0
        let channels = isPlanar ? 1 : 3
        return channels * (width + plan.height) * WeightedRows.mostRows * 2
            + channels * width * (shrunk + 2 * plan.height) + 6 * plan.width * plan.height
    }
}
