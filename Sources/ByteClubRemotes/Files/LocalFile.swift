import ByteClubCore
import Glibc
import Synchronization

/// Local files as downloads make them.
enum LocalFile {
    /// Writes a file that is there only when all its bytes are.
    static func write(_ bytes: [UInt8], to path: String) throws(RemoteError) {
        let part = stagingPath(for: path)
        let descriptor = unsafe open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .localFile("cannot write '\(path)'", errno) }
        var offset = 0
        var failure: Int32 = 0
        while offset < bytes.count, failure == 0 {
            let count = unsafe bytes.withUnsafeBytes { all in
                unsafe Glibc.write(descriptor, all.baseAddress?.advanced(by: offset), all.count - offset)
            }
            if count >= 0 { offset += count } else if errno != EINTR { failure = errno }
        }
        if close(descriptor) != 0, failure == 0 { failure = errno }
        if failure != 0 {
            remove(part)
            throw .localFile("cannot write '\(path)'", failure)
        }
        try put(part, at: path)
    }

    /// The bytes of a short file; nil when it cannot be read.
    static func read(_ path: String) -> [UInt8]? {
        guard let file = try? OpenFile(reading: path), file.size <= 1 << 20 else { return nil }
        return try? file.readAll()
    }

    /// A hidden name in the same folder, which no other download uses.
    static func stagingPath(for path: String) -> String {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        return folder + ".byteclub-\(getpid())-\(lastStaged.wrappingAdd(1, ordering: .relaxed).newValue).part"
    }

    /// Renames a whole file to its place; when that fails, the file is gone.
    static func put(_ staged: String, at path: String) throws(RemoteError) {
        guard unsafe rename(staged, path) != 0 else { return }
        let code = errno
        remove(staged)
        throw .localFile("cannot write '\(path)'", code)
    }

    /// Removes a file, if it is there.
    static func remove(_ path: String) { _ = unsafe unlink(path) }

    private static let lastStaged = Atomic<UInt64>(0)
}

extension RemoteError {
    static func localFile(_ what: String, _ code: Int32) -> RemoteError {
        let text = unsafe strerror(code).map { unsafe String(cString: $0) }
        return RemoteError(.localFile, "\(what): \(text ?? "error \(code)")")
    }
}
