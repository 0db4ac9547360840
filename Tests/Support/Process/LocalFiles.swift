import Glibc

/// Writes files as a person's programs do.
public enum LocalFiles {
    /// Why a file was not written.
    public struct WriteError: Error {
        /// The file.
        public let path: String
        /// The system's error number.
        public let errno: Int32
    }

    /// Writes a file in place; missing folders above it are made.
    public static func write(_ bytes: [UInt8], to path: String) throws {
        makeFolders(above: path)
        let descriptor = unsafe creat(path, 0o644)
        guard descriptor >= 0 else { throw WriteError(path: path, errno: errno) }
        defer { close(descriptor) }
        try append(bytes, to: descriptor, path)
    }

    /// Writes text in place.
    public static func write(_ text: String, to path: String) throws { try write(Array(text.utf8), to: path) }

    /// Makes a large file of a head and bytes that do not compress, without holding it in memory.
    ///
    /// - Parameters:
    ///   - head: How the file starts.
    ///   - length: The file's length in bytes.
    ///   - seed: What the rest is made from.
    ///   - path: The file.
    /// - Throws: ``WriteError``, for example when the disk is full.
    public static func writeLarge(head: [UInt8], length: Int, seed: UInt64, to path: String) throws {
        let descriptor = unsafe creat(path, 0o644)
        guard descriptor >= 0 else { throw WriteError(path: path, errno: errno) }
        defer { close(descriptor) }
        try append(head, to: descriptor, path)
        var generator = SeededGenerator(seed: seed)
        var block: [UInt8] = []
        block.reserveCapacity(1 << 20)
        while block.count < 1 << 20 {
            unsafe withUnsafeBytes(of: generator.next()) { unsafe block.append(contentsOf: $0) }
        }
        var left = length - head.count
        while left > 0 {
            // Each block is like no other, so that no store can share them.
            unsafe withUnsafeBytes(of: generator.next()) { unsafe block.replaceSubrange(0..<8, with: $0) }
            let count = min(left, block.count)
            try append(count == block.count ? block : Array(block.prefix(count)), to: descriptor, path)
            left -= count
        }
    }

    /// Makes a folder and those above it.
    public static func makeFolder(_ path: String) {
        makeFolders(above: path + "/")
    }

    /// Whether something is at the path; a link counts whatever it points to.
    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    private static func makeFolders(above path: String) {
        var folder = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropLast() where !part.isEmpty {
            folder += "/" + part
            unsafe mkdir(folder, 0o755)
        }
    }

    private static func append(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw WriteError(path: path, errno: errno) }
            rest = rest.dropFirst(count)
        }
    }
}
