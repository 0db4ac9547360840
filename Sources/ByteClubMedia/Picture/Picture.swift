/// A decoded picture: red, green and blue in rows from the top, as it should be seen.
public struct Picture: Sendable, Hashable {
    /// Pixels across.
    public let width: Int
    /// Pixels down.
    public let height: Int
    /// Three bytes a pixel, `width * height * 3` in all.
    public let rgb: [UInt8]

    /// Makes a picture of pixels; nil when there are not exactly three bytes for each, or none.
    public init?(width: Int, height: Int, rgb: [UInt8]) {
        guard width > 0, height > 0, width <= 1 << 20, height <= 1 << 20, rgb.count == width * height * 3 else {
            return nil
        }
        self.width = width
        self.height = height
        self.rgb = rgb
    }

    /// Decodes a JPEG in memory, with its orientation applied; colours are as stored, without regard to a profile.
    ///
    /// Blocks for the decoding and cannot be cancelled; it is bounded as ``Thumbnail`` is.
    ///
    /// - Throws: `notAJPEG`, `damaged`, `unsupported`, and `tooLarge` before anything is decoded.
    public init(jpeg: [UInt8]) throws(MediaError) {
        let header = try JPEGHeader(bytes: jpeg)
        let raster = try JPEGDecoder().decode(jpeg, header: header)
        self.init(raster.oriented(Panorama(header: header).orientation))
    }

    init(_ raster: Raster) {
        width = raster.width
        height = raster.height
        rgb = raster.channels == 3 ? raster.pixels : raster.pixels.flatMap { [$0, $0, $0] }
    }

    var raster: Raster { Raster(width: width, height: height, channels: 3, pixels: rgb) }

    /// The picture at exactly this size by Lanczos-3; sides are at least 1 and at most 65,535.
    public func fitted(width: Int, height: Int) -> Picture {
        Picture(raster.resampled(width: min(max(1, width), 65_535), height: min(max(1, height), 65_535)))
    }

    /// The picture as an 8-bit PNG file.
    ///
    /// - Throws: `io` when there is no memory.
    public func png() throws(MediaError) -> [UInt8] {
        try PNGEncoder.encode(raster)
    }

    /// The picture as a baseline JPEG with 4:2:0 sampling; `quality` is clamped to 1...100.
    ///
    /// - Throws: `io` when a side is above 65,500 or there is no memory.
    public func jpeg(quality: Int = 82) throws(MediaError) -> [UInt8] {
        try JPEGEncoder().encode(raster, quality: quality)
    }
}
