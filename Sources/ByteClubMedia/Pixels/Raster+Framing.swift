extension Raster {
    /// The picture with another number of columns and rows: without the last ones, or with the last one repeated.
    func framed(width newWidth: Int, height newHeight: Int) -> Raster {
        guard newWidth != width || newHeight != height else { return self }
        var framed: [UInt8] = []
        framed.reserveCapacity(newWidth * newHeight * channels)
        for y in 0..<newHeight {
            let start = min(y, height - 1) * rowBytes
            framed += pixels[start..<start + min(width, newWidth) * channels]
            for _ in 0..<max(0, newWidth - width) {
                framed += pixels[start + rowBytes - channels..<start + rowBytes]
            }
        }
        return Raster(width: newWidth, height: newHeight, channels: channels, pixels: framed)
    }
}
