import ByteClubMedia

/// The colour of a pixel.
struct RGB: Hashable, Sendable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    /// The largest difference in any channel.
    func distance(to other: RGB) -> Int {
        max(
            abs(Int(red) - Int(other.red)), abs(Int(green) - Int(other.green)), abs(Int(blue) - Int(other.blue)))
    }

    /// The sum of the squared differences of the channels.
    func squaredDistance(to other: RGB) -> Int {
        let differences = [
            Int(red) - Int(other.red), Int(green) - Int(other.green), Int(blue) - Int(other.blue),
        ]
        return differences.reduce(0) { $0 + $1 * $1 }
    }
}

extension Picture {
    /// The colour at a position within the picture.
    func pixel(_ column: Int, _ row: Int) -> RGB {
        let start = (row * width + column) * 3
        return RGB(red: rgb[start], green: rgb[start + 1], blue: rgb[start + 2])
    }
}

/// The 240 of a terminal's 256 colours that no theme changes: xterm's cube of six levels and 24 greys.
enum TerminalPalette {
    private static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]

    /// The colour with a number from 16 to 255.
    static func color(_ index: Int) -> RGB {
        if index >= 232 {
            let grey = UInt8(clamping: 8 + 10 * (index - 232))
            return RGB(red: grey, green: grey, blue: grey)
        }
        let cube = min(max(0, index - 16), 215)
        return RGB(red: levels[cube / 36], green: levels[cube / 6 % 6], blue: levels[cube % 6])
    }

    /// The closest colour and its number.
    static func nearest(to color: RGB) -> (index: Int, color: RGB) {
        let cube = 16 + 36 * level(color.red) + 6 * level(color.green) + level(color.blue)
        let mean = (Int(color.red) + Int(color.green) + Int(color.blue)) / 3
        let grey = 232 + min(max(0, (mean - 3) / 10), 23)
        let (a, b) = (Self.color(cube), Self.color(grey))
        return a.squaredDistance(to: color) <= b.squaredDistance(to: color) ? (cube, a) : (grey, b)
    }

    private static func level(_ value: UInt8) -> Int {
        value < 48 ? 0 : value < 115 ? 1 : min(5, (Int(value) - 35) / 40)
    }
}
