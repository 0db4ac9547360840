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

extension Raster {
    /// The picture as it should be seen, for an EXIF orientation of 1 to 8.
    func oriented(_ orientation: Int) -> Raster {
        guard (2...8).contains(orientation) else { return self }
        let isTurned = orientation >= 5
        let (newWidth, newHeight) = isTurned ? (height, width) : (width, height)
        var turned: [UInt8] = []
        turned.reserveCapacity(pixels.count)
        for y in 0..<newHeight {
            for x in 0..<newWidth {
                let (column, row) =
                    switch orientation {
                    case 2: (width - 1 - x, y)
                    case 3: (width - 1 - x, height - 1 - y)
                    case 4: (x, height - 1 - y)
                    case 5: (y, x)
                    case 6: (y, height - 1 - x)
                    case 7: (width - 1 - y, height - 1 - x)
                    default: (width - 1 - y, x)
                    }
                let start = (row * width + column) * channels
                for channel in 0..<channels { turned.append(pixels[start + channel]) }
            }
        }
        return Raster(width: newWidth, height: newHeight, channels: channels, pixels: turned)
    }
}

extension Raster {
    /// A part of the picture as it should be seen, for an EXIF orientation of 1 to 8.
    ///
    /// - Parameters:
    ///   - across: Pixels from the left of the turned picture, within it.
    ///   - down: Pixels from the top of the turned picture, within it.
    ///   - orientation: How the stored picture is turned.
    /// - Returns: The part, turned.
    func part(_ across: Range<Int>, _ down: Range<Int>, orientation: Int) -> Raster {
        let (right, low) = (width - across.upperBound, height - down.upperBound)
        let (x, y) =
            switch orientation {
            case 2: (right, down.lowerBound)
            case 3: (right, low)
            case 4: (across.lowerBound, low)
            case 5: (down.lowerBound, across.lowerBound)
            case 6: (down.lowerBound, height - across.upperBound)
            case 7: (width - down.upperBound, height - across.upperBound)
            case 8: (width - down.upperBound, across.lowerBound)
            default: (across.lowerBound, down.lowerBound)
            }
        let isTurned = (5...8).contains(orientation)
        let size = isTurned ? (width: down.count, height: across.count) : (width: across.count, height: down.count)
        var cut: [UInt8] = []
        cut.reserveCapacity(size.width * size.height * channels)
        for row in y..<y + size.height {
            let start = row * rowBytes + x * channels
            cut += pixels[start..<start + size.width * channels]
        }
        return Raster(width: size.width, height: size.height, channels: channels, pixels: cut).oriented(orientation)
    }
}
