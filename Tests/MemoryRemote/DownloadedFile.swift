import ByteClubCore
import Glibc
import Synchronization

/// A file as a download makes it.
enum DownloadedFile {
    private static let lastPart = Atomic<UInt64>(0)

    /// Writes a file that is there only when all its bytes are.
    static func write(_ bytes: [UInt8], to path: String) throws(RemoteError) {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        let part = folder + ".byteclub-memory\(getpid())-\(lastPart.wrappingAdd(1, ordering: .relaxed).newValue).part"
        let descriptor = unsafe open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        var isKept = false
        defer {
            close(descriptor)
            if !isKept { _ = unsafe unlink(part) }
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            rest = rest.dropFirst(count)
        }
        guard unsafe rename(part, path) == 0 else { throw failure(path) }
        isKept = true
    }

    private static func failure(_ path: String) -> RemoteError {
        RemoteError(.localFile, "cannot write '\(path)': \(unsafe String(cString: strerror(errno)))")
    }
}
