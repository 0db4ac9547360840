import ByteClubMedia

/// The colour of a pixel.
struct RGB: Hashable, Sendable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    /// The largest difference of a channel.
    func distance(to other: RGB) -> Int {
        max(
            abs(Int(red) - Int(other.red)), abs(Int(green) - Int(other.green)), abs(Int(blue) - Int(other.blue)))
    }

    /// The sum of the squared differences.
    func squaredDistance(to other: RGB) -> Int {
        let differences = [
            Int(red) - Int(other.red), Int(green) - Int(other.green), Int(blue) - Int(other.blue),
        ]
        return differences.reduce(0) { $0 + $1 * $1 }
    }
}

extension Picture {
    /// The colour at a place within the picture.
    func pixel(_ column: Int, _ row: Int) -> RGB {
        let start = (row * width + column) * 3
        return RGB(red: rgb[start], green: rgb[start + 1], blue: rgb[start + 2])
    }
}
