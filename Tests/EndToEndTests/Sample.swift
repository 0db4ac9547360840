import ByteClubCore
import TestSupport

/// Content for the tests: made from a seed, and never the same twice.
enum Sample {
    private static let words = [
        "ridge", "panorama", "soup", "tripod", "rain", "hut", "sunrise", "train", "map", "lake", "snow", "bread",
    ]

    /// A note of about `length` bytes whose first line is unlike any other note's.
    static func note(_ title: String, length: Int, using generator: inout SeededGenerator) -> [UInt8] {
        var text = "# \(title) \(generator.next())\n"
        while text.utf8.count < length {
            text += words[Int.random(in: 0..<words.count, using: &generator)]
            text += Int.random(in: 0..<9, using: &generator) == 0 ? "\n" : " "
        }
        return Array(text.utf8)
    }

    /// The committed panoramas, sorted by name.
    static let panoramas: [String] = (FileTree.names(in: Fixture.path("panoramas")) ?? [])
        .filter { $0.hasSuffix(".jpg") && $0 != "not-a-photo.jpg" }

    /// A real panorama with bytes after its end, which a JPEG may have, so that each is another file.
    static func photo(_ index: Int, using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = Fixture.bytes("panoramas/" + panoramas[index % panoramas.count])
        for _ in 0..<4 { unsafe withUnsafeBytes(of: generator.next()) { unsafe bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// A seed that is printed, so that a failing run can be repeated with `BYTECLUB_SEED`.
    static func seed(_ purpose: String) -> UInt64 {
        let seed = Settings.number("BYTECLUB_SEED").map { UInt64($0) } ?? UInt64.random(in: 0..<1 << 32)
        print("\(purpose): BYTECLUB_SEED=\(seed)")
        return seed
    }
}
