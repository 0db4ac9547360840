/// The 240 of a terminal's 256 colours that are the same everywhere: a cube of six levels and 24 greys, as xterm has them.
enum TerminalPalette {
    private static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]

    /// The colour of a number from 16 to 255.
    static func color(_ index: Int) -> RGB {
        if index >= 232 {
            let grey = UInt8(clamping: 8 + 10 * (index - 232))
            return RGB(red: grey, green: grey, blue: grey)
        }
        let cube = min(max(0, index - 16), 215)
        return RGB(red: levels[cube / 36], green: levels[cube / 6 % 6], blue: levels[cube % 6])
    }

    /// The number of the colour that is nearest, and that colour.
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
