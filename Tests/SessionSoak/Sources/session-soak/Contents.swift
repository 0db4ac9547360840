import Glibc
import Synchronization

/// One version of a file of the servers: every byte can be told, nothing is kept.
struct Contents: Hashable {
    static let files = 48

    let file: Int
    let version: Int

    /// One file in sixteen is empty, one in four has megabytes; the others have at least the version's 8 bytes.
    var length: Int {
        let value = Int(Seeded.mixed(UInt64(file) << 32 ^ UInt64(version)) >> 33)
        if file % 16 == 1 { return 0 }
        return file % 4 == 0 ? 200_000 + value % 2_000_000 : 8 + value % 60_000
    }

    var tag: String { "\"\(file)-\(version)\"" }

    /// A date for each version, long ago.
    var date: String { Self.date(1_577_836_800 + version * 60) }

    /// The version first, then its noise.
    func bytes(_ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count + 16)
        let first = range.lowerBound / 8
        let key = Seeded.mixed(UInt64(file) << 40 ^ UInt64(version))
        var block = first
        while block * 8 < range.upperBound {
            let value = block == 0 ? UInt64(version) : Seeded.mixed(key &+ UInt64(block))
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift * 8))) }
            block += 1
        }
        let skipped = range.lowerBound - first * 8
        return Array(bytes[min(skipped, bytes.count)..<min(skipped + range.count, bytes.count)])
    }

    var all: [UInt8] { bytes(0..<length) }

    /// What is wrong with bytes that should be one version of a file; nil if nothing is.
    static func objection(to bytes: [UInt8], file: Int) -> String? {
        if file % 16 == 1 { return bytes.isEmpty ? nil : "an empty file has \(bytes.count) bytes" }
        guard bytes.count >= 8 else { return "a file has \(bytes.count) bytes" }
        let version = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[$1]) << UInt64($1 * 8) }
        guard version < 1 << 24 else { return "the bytes are of no version" }
        let contents = Contents(file: file, version: Int(version))
        let wanted = contents.all
        if wanted == bytes { return nil }
        let same = zip(wanted, bytes).prefix { $0 == $1 }.count
        return "\(bytes.count) bytes are no version; like \(contents.tag) (\(wanted.count) bytes) up to \(same)"
    }

    static func date(_ seconds: Int) -> String {
        var (time, fields) = (time_t(seconds), tm())
        gmtime_r(&time, &fields)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, 64, "%a, %d %b %Y %H:%M:%S GMT", &fields)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Which version each file is at now.
final class Versions: Sendable {
    private let current = Mutex<[Int]>(Array(repeating: 1, count: Contents.files))

    func contents(of file: Int) -> Contents { Contents(file: file, version: current.withLock { $0[file] }) }

    /// Replaces the file by another version.
    func change(_ file: Int) { current.withLock { $0[file] += 1 } }
}
