internal import Glibc

/// A file being written that appears whole or not at all: it is beside its target until it is finished, and removed if
/// it never is.
struct NewFile: ~Copyable {
    private let path: String
    private let directory: String
    private let temporary: String
    private let descriptor: Int32
    private var isKept = false

    /// Writes a whole file at once.
    static func write(_ bytes: [UInt8], to path: String) throws(MediaError) {
        var file = try NewFile(path: path)
        try file.append(bytes)
        try file.finish()
    }

    init(path: String) throws(MediaError) {
        guard !path.utf8.contains(0), !path.hasSuffix("/"), !path.isEmpty else {
            throw MediaError(.io, "\(path.debugDescription) is not a file's name")
        }
        let slash = path.lastIndex(of: "/")
        let prefix = slash.map { String(path[...$0]) } ?? ""
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let temporary = "\(prefix).byteclub-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else { throw .system("cannot create a file in", directory, errno) }
        self.path = path
        self.directory = directory
        self.temporary = temporary
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
        if !isKept { _ = unsafe unlink(temporary) }
    }

    mutating func append(_ bytes: [UInt8]) throws(MediaError) {
        var written = 0
        while written < bytes.count {
            let rest = bytes[written...]
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("cannot write", path, errno) }
            written += count
        }
    }

    /// Syncs the file, renames it over its target and syncs the directory.
    mutating func finish() throws(MediaError) {
        guard fsync(descriptor) == 0 else { throw .system("cannot write", path, errno) }
        guard unsafe rename(temporary, path) == 0 else { throw .system("cannot replace", path, errno) }
        isKept = true
        let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .system("cannot sync", directory, errno) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw .system("cannot sync", directory, errno) }
    }
}
