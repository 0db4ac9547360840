import ByteClubMedia

/// Floyd and Steinberg's dithering (1976): what a pixel's colour is off goes to the pixels around it.
enum Dithering {
    /// The index of a colour for each pixel, in rows from the top.
    static func indices(_ picture: Picture, _ table: ColorTable) -> [UInt8] {
        let width = picture.width
        var indices: [UInt8] = []
        indices.reserveCapacity(width * picture.height)
        // Sixteenths, with a place before the first pixel and one behind the last.
        var now = [Int](repeating: 0, count: (width + 2) * 3)
        var next = now
        for row in 0..<picture.height {
            for column in 0..<width {
                let start = (row * width + column) * 3
                var wanted = [0, 0, 0]
                for channel in 0..<3 {
                    let value = Int(picture.rgb[start + channel]) + now[(column + 1) * 3 + channel] / 16
                    wanted[channel] = min(max(0, value), 255)
                }
                let color = RGB(red: UInt8(wanted[0]), green: UInt8(wanted[1]), blue: UInt8(wanted[2]))
                let index = table.index(of: color)
                indices.append(UInt8(clamping: index))
                let chosen = table.colors[index]
                for (channel, value) in [chosen.red, chosen.green, chosen.blue].enumerated() {
                    let error = wanted[channel] - Int(value)
                    now[(column + 2) * 3 + channel] += error * 7
                    next[column * 3 + channel] += error * 3
                    next[(column + 1) * 3 + channel] += error * 5
                    next[(column + 2) * 3 + channel] += error
                }
            }
            now = next
            next = [Int](repeating: 0, count: (width + 2) * 3)
        }
        return indices
    }
}
