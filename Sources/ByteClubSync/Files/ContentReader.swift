import ByteClubCore
import CLinux
import Glibc

/// Reads and hashes what an open file holds.
enum ContentReader {
    /// The most bytes that are kept in memory at once: a note's limit.
    static let smallLimit: Int64 = 1 << 20

    /// All bytes of a small file; nil when it holds more than `limit`.
    static func bytes(of file: FileDescriptor, expecting size: Int64, limit: Int64 = smallLimit) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(min(size, limit)) + 1)
        let count = try file.read(into: &bytes, at: 0)
        guard count <= limit else { return nil }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// The hash of a whole file, in memory that does not grow with it; stops when the task is cancelled.
    static func hash(of file: FileDescriptor) throws -> ContentHash {
        var hasher = ContentHasher()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var offset: Int64 = 0
        while true {
            try Task.checkCancellation()
            let count = try file.read(into: &buffer, at: offset)
            if count == buffer.count { hasher.update(buffer) } else { hasher.update(Array(buffer.prefix(count))) }
            offset += Int64(count)
            if count < buffer.count { return hasher.finalize() }
        }
    }
}
