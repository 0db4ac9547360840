import Glibc

/// A directory that is gone when its owner is.
public final class TemporaryDirectory: Sendable {
    /// The directory's path.
    public let path: String

    /// Makes an empty directory under `TMPDIR` or `/tmp`, or another parent.
    public init(in parent: String? = nil) throws {
        let base = unsafe parent ?? getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array((base + "/byteclub-XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw TemporaryDirectoryError(errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    /// Removes a file or a link, or a directory with all below it; links are never followed, nor is the path itself.
    public static func remove(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR, let directory = unsafe opendir(path) else {
            unsafe unlink(path)
            return
        }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        unsafe closedir(directory)
        for name in names { remove(path + "/" + name) }
        unsafe rmdir(path)
    }
}

/// Why no temporary directory could be made.
public struct TemporaryDirectoryError: Error {
    /// The system's error number.
    public let errno: Int32
}
