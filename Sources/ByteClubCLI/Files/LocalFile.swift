import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc

/// Operations on local files.
enum LocalFile {
    private static let chunk = 1 << 18

    /// Reads a regular file (or a pipe) of at most `limit` bytes.
    static func read(_ path: String, limit: Int = .max) throws -> [UInt8] {
        let file = try open(path)
        return try withExtendedLifetime(file) { try read(file.number, path, limit: limit) }
    }

    /// Reads a descriptor to its end.
    static func read(_ descriptor: Int32, _ name: String, limit: Int = .max) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try eachChunk(of: descriptor, name) { part in
            if bytes.count + part.count > limit {
                throw Failure(.badData, "'\(name)' is larger than \(HumanSize.shown(Int64(limit)))")
            }
            bytes += part
        }
        return bytes
    }

    /// The content hash and length of a file, read in pieces.
    static func hash(_ path: String) throws -> (hash: ContentHash, bytes: Int64) {
        var hasher = ContentHasher()
        var count: Int64 = 0
        try eachChunk(of: open(path)) { part in
            try Task.checkCancellation()
            hasher.update(Array(part))
            count += Int64(part.count)
        }
        return (hasher.finalize(), count)
    }

    /// Copies a file to an output, in pieces.
    static func copy(_ path: String, to output: Output) throws {
        try eachChunk(of: open(path)) { try output.write(Array($0)) }
    }

    private static func open(_ path: String, for operation: String = "read") throws -> OwnedDescriptor<FileFailure> {
        try OwnedDescriptor(path, O_RDONLY, for: operation)
    }

    private static func eachChunk(
        of file: OwnedDescriptor<FileFailure>, _ body: (ArraySlice<UInt8>) throws -> Void
    ) throws {
        try eachChunk(of: file.number, file.path, body)
    }

    private static func eachChunk(
        of descriptor: Int32, _ name: String, _ body: (ArraySlice<UInt8>) throws -> Void
    ) throws {
        // Most files are small: the buffer starts small and grows when it was filled.
        var buffer = [UInt8](repeating: 0, count: 4 << 10)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFailure("read", name) }
            if count == 0 { return }
            try body(buffer[..<count])
            if count == buffer.count, count < chunk { buffer = [UInt8](repeating: 0, count: chunk) }
        }
    }

    /// A file's status, through symbolic links.
    static func status(_ path: String) throws -> FileStatus {
        guard let status = FileStatus(path) else { throw FileFailure("read", path) }
        return status
    }

    /// The length of a regular file in bytes.
    static func size(_ path: String) throws -> Int64 {
        let status = try status(path)
        guard status.isFile else { throw Failure(.badData, "'\(path)' is not a regular file") }
        return status.size
    }

    /// When a file was last changed.
    static func modified(_ path: String) throws -> FileTime? {
        let status = try status(path)
        return FileTime(seconds: status.modified, nanoseconds: status.nanoseconds)
    }

    /// Whether another program has a file open for writing; false when the system does not report it.
    static func isBeingWritten(_ path: String) -> Bool {
        guard let file = try? OwnedDescriptor<FileFailure>(path, O_RDONLY | O_NONBLOCK) else { return false }
        return withExtendedLifetime(file) { byteclub_probe_lease(file.number) != 0 && errno == EAGAIN }
    }

    /// Whether a file is executable for its owner.
    static func isExecutable(_ path: String) throws -> Bool { try status(path).permissions & S_IXUSR != 0 }

    /// Sets the modification time of a downloaded file, and makes it executable for those who may read it, if it is so
    /// on the server.
    static func complete(_ path: String, as metadata: Metadata) throws {
        if let time = metadata.fileTime { try setModified(path, time) }
        guard metadata.isExecutable == true else { return }
        guard let mode = FileStatus(path)?.permissions, unsafe chmod(path, mode | (mode & 0o444) >> 2) == 0 else {
            throw FileFailure("write", path)
        }
    }

    /// Sets the times of modification and access; the current time where the file system cannot store them.
    static func setModified(_ path: String, _ time: FileTime) throws {
        let moment = timespec(tv_sec: Int(time.date.seconds), tv_nsec: Int(time.fraction))
        guard unsafe utimensat(AT_FDCWD, path, [moment, moment], 0) == 0 else { throw FileFailure("write", path) }
        // File systems clamp times to their range, and some have a resolution of two seconds.
        guard let status = FileStatus(path), abs(status.modified - time.date.seconds) > 2 else { return }
        guard unsafe utimensat(AT_FDCWD, path, nil, 0) == 0 else { throw FileFailure("write", path) }
    }

    /// The free bytes for a new file, less a reserve of a fiftieth, at most 64 MiB.
    static func room(beside path: String) throws -> Int64 {
        let directory = parent(of: path)
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0 else { throw FileFailure("read", directory) }
        let block = Int64(clamping: status.f_frsize)
        let (free, total) = (Int64(clamping: status.f_bavail), Int64(clamping: status.f_blocks))
        let bytes = { (count: Int64) in count.multipliedReportingOverflow(by: block) }
        let reserve = min(64 << 20, bytes(total).overflow ? .max : bytes(total).partialValue / 50)
        return max(0, (bytes(free).overflow ? .max : bytes(free).partialValue) - reserve)
    }

    /// Whether a path exists, dangling links included.
    static func exists(_ path: String) -> Bool { FileStatus(path, followsLinks: false) != nil }

    /// Whether this path is a directory.
    static func isDirectory(_ path: String) -> Bool { FileStatus(path)?.isFolder == true }

    /// Whether this path is a symbolic link.
    static func isLink(_ path: String) -> Bool {
        FileStatus(path, followsLinks: false).map { $0.raw.st_mode & S_IFMT == S_IFLNK } ?? false
    }

    /// Makes a directory in an existing one.
    static func makeDirectory(_ path: String) throws {
        guard unsafe mkdir(path, 0o777) == 0 else { throw FileFailure("create", path) }
    }

    /// Makes a directory and its missing parents; the last one is private.
    static func makePrivateDirectory(_ path: String) throws {
        try makeFolders(path, mode: 0o700, for: "create")
        guard isDirectory(path) else { throw FileFailure("create", path, ENOTDIR) }
        guard unsafe chmod(path, 0o700) == 0 else { throw FileFailure("create", path) }
    }

    /// Makes a directory and its missing parents.
    static func makeDirectories(_ path: String) throws {
        try makeFolders(path, mode: 0o755, for: "create")
    }

    /// Removes a file.
    static func remove(_ path: String) throws {
        guard unsafe unlink(path) == 0 else { throw FileFailure("remove", path) }
        try syncDirectory(of: path)
    }

    /// Replaces or creates a file atomically: after a power cut it has its old bytes or all new ones.
    static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = 0o600) throws {
        var draft = try DraftFile<FileFailure>(temporaryName(beside: path), mode: mode)
        try fill(draft.file, bytes, mode)
        try draft.place(at: path, for: "create")
        try syncDirectory(of: path)
    }

    /// An unused name in the same directory.
    static func temporaryName(beside path: String) -> String {
        hiddenName(beside: path, String(UInt64.random(in: .min ... .max), radix: 36))
    }

    /// A hidden name in the same directory for a temporary file, distinguished by a mark of at most 100 bytes.
    ///
    /// File names are limited to 255 bytes, so the file's own name is cut to 100.
    static func hiddenName(beside path: String, _ mark: String) -> String {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var (name, bytes) = ("", 0)
        for character in parts.popLast() ?? "" {
            bytes += character.utf8.count
            if bytes > 100 { break }
            name.append(character)
        }
        parts.append(".\(name).\(mark).byteclub")
        return parts.joined(separator: "/")
    }

    /// Writes a new file to disk; a failure may leave a part of it.
    static func createSynced(_ path: String, _ bytes: [UInt8], mode: mode_t) throws {
        try fill(OwnedDescriptor(path, O_WRONLY | O_CREAT | O_EXCL, mode: mode, for: "create"), bytes, mode)
    }

    private static func fill(_ file: OwnedDescriptor<FileFailure>, _ bytes: [UInt8], _ mode: mode_t) throws {
        guard fchmod(file.number, mode) == 0 else { throw file.failure("create") }
        try file.write(bytes)
        try file.sync(for: "write")
    }

    /// Renames a finished file to its name and syncs the directory.
    static func settle(_ temporary: String, at path: String, replacing: Bool) throws {
        let flags = replacing ? 0 : byteclub_rename_noreplace
        guard unsafe byteclub_renameat2(AT_FDCWD, temporary, AT_FDCWD, path, flags) == 0 else {
            if errno == EEXIST { throw alreadyThere(path) }
            throw FileFailure("create", path)
        }
        try syncDirectory(of: path)
    }

    /// Writes a file's bytes to disk.
    static func sync(_ path: String) throws { try open(path, for: "write").sync(for: "write") }

    /// Syncs the directory of a file to disk.
    static func syncDirectory(of path: String) throws {
        try OwnedDescriptor<FileFailure>.syncFolder(parent(of: path), for: "write")
    }

    /// The directory that holds a path.
    static func parent(of path: String) -> String { parentFolder(of: path) }

    /// The last component of a path.
    static func name(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// The refusal to replace a file.
    static func alreadyThere(_ path: String) -> Failure {
        Failure(.cannotCreate, "'\(path)' already exists; use --force to replace it")
    }

    /// Writes all bytes to a descriptor.
    static func write(_ bytes: [UInt8], to descriptor: Int32, _ name: String) throws {
        let code = unsafe bytes.withUnsafeBytes { unsafe writeAll($0, to: descriptor).code }
        if code != 0 { throw FileFailure("write", name, code) }
    }

    /// The working directory, with links resolved.
    static func workingDirectory() throws -> String {
        guard let folder = workingFolder() else { throw FileFailure("read", ".") }
        return folder
    }

    /// The absolute form of a path relative to a base, by default the working directory; `.` and `..` are resolved
    /// textually.
    static func absolute(_ path: String, in base: String? = nil) throws -> String {
        var names: [Substring] = []
        if !path.hasPrefix("/") { names = try (base ?? workingDirectory()).split(separator: "/") }
        for name in path.split(separator: "/") where name != "." {
            if name == ".." { _ = names.popLast() } else { names.append(name) }
        }
        return "/" + names.joined(separator: "/")
    }

    /// A path with links resolved; unchanged when it does not exist.
    static func resolved(_ path: String) -> String { resolvedPath(path) ?? path }

    /// The names in a directory, unsorted; none when it cannot be read.
    static func names(in directory: String) -> [String] { (try? Array(FolderNames(directory))) ?? [] }
}
