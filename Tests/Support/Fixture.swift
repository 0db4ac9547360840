import ByteClubCore
import Glibc

/// Finds the committed fixtures from the place of this file.
public enum Fixture {
    /// The project's top-level folder.
    public static let projectRoot: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// The path of a fixture, for example `path("panoramas/city.jpg")`.
    public static func path(_ name: String) -> String { projectRoot + "/Fixtures/" + name }

    /// The bytes of a fixture; empty when there is no such file.
    public static func bytes(_ name: String) -> [UInt8] { bytes(at: path(name)) }

    /// The bytes of any file; empty when it cannot be read.
    public static func bytes(at path: String) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// Bytes as text, or their length and hash when they are no UTF-8.
    ///
    /// Decoding with repairs throws inside for each repair, and the testing library keeps a backtrace for each throw:
    /// minutes for some photos.
    public static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? "\(bytes.count) bytes, \(ContentHasher.hash(bytes))"
    }
}
