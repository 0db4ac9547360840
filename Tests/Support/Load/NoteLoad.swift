import ByteClubCore

/// Which notes a load writes where: all of it follows from a writer's number and the number of its write, so that what
/// was acknowledged can be checked without having been kept.
public enum NoteLoad {
    /// How many writes go to one path, one after another.
    public static let writesPerPath = 400
    /// One in so many writes is larger than what the server keeps in its database.
    private static let largeEvery = 250

    /// The path of a write.
    public static func path(writer: Int, number: Int) -> String {
        "/byteclub/w\(writer)/n\(number / writesPerPath).md"
    }

    /// The bytes of a write, unlike those of any other.
    public static func bytes(writer: Int, number: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(writer) << 40 | UInt64(number))
        let isLarge = generator.next().isMultiple(of: UInt64(largeEvery))
        let length = isLarge ? 66_000 + Int(generator.next() % 60_000) : 60 + Int(generator.next() % 300)
        var bytes = Array("# \(writer) \(number)\n".utf8)
        bytes.reserveCapacity(length + 8)
        while bytes.count < length {
            unsafe withUnsafeBytes(of: generator.next()) { unsafe bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}
