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
