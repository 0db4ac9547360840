/// Pixels in rows from the top, one byte a channel, without padding.
struct Raster: Sendable, Hashable {
    let width: Int
    let height: Int
    /// 1 for grey, 3 for red, green and blue.
    let channels: Int
    var pixels: [UInt8]

    init(width: Int, height: Int, channels: Int, pixels: [UInt8]) {
        precondition(pixels.count == width * height * channels, "a raster holds exactly its pixels")
        self.width = width
        self.height = height
        self.channels = channels
        self.pixels = pixels
    }

    var rowBytes: Int { width * channels }
}
