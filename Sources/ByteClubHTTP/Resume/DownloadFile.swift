import Glibc

/// A file that appears under its name only when it is complete.
///
/// Bytes are written to a hidden temporary file in the same folder, which is removed unless ``publish()`` renames it or
/// ``leave()`` keeps it for resuming. A temporary file only holds bytes of one representation, appended in order: a
/// download that starts over uses a new file. It is locked while open, so that no two tasks resume it. Used only on the
/// loop's thread. Nothing is synced except for a journal; the owner syncs the file after the rename if needed.
final class DownloadFile {
    struct Failure: Error {
        var message: String
        var errno: Int32
    }

    let path: String
    private(set) var size: Int64
    let temporary: String
    let inode: UInt64
    private let descriptor: Int32
    private var isLeft = false
    private var journal: ResumeJournal?

    private static let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    /// Creates an empty file.
    init(path: String, tag: String = "") throws(Failure) {
        guard !path.isEmpty, !path.utf8.contains(0), path.utf8.last != UInt8(ascii: "/") else {
            throw Failure(message: "the path of the download has no file name", errno: EINVAL)
        }
        self.path = path
        temporary = Self.temporary(for: path, tag)
        descriptor = unsafe open(temporary, Self.flags | O_CREAT | O_EXCL, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path) }
        flock(descriptor, LOCK_EX | LOCK_NB)
        inode = Self.status(of: descriptor).map { UInt64($0.st_ino) } ?? 0
        size = 0
    }

    /// Opens a file to resume; nil if it is missing, in use, or changed.
    ///
    /// It is searched beside `path` first, since the folder may have been renamed, and moved there from another folder.
    /// A file that cannot be resumed is removed, since the record owns it.
    init?(continuing record: ResumeRecord, at path: String, tag: String = "") {
        var found = Self.folder(of: Self.absolute(path)) + Self.name(of: record.temporary)
        var descriptor = unsafe open(found, Self.flags)
        if descriptor < 0 {
            found = record.temporary
            descriptor = unsafe open(found, Self.flags)
        }
        self.descriptor = descriptor
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, let status = Self.status(of: descriptor),
            UInt64(status.st_ino) == record.inode
        else {
            close(descriptor)
            return nil
        }
        guard let size = Self.sizeLeft(status, record), ftruncate(descriptor, off_t(size)) == 0,
            let temporary = Self.bring(found, to: path, tag)
        else {
            unsafe unlink(found)
            close(descriptor)
            return nil
        }
        self.path = path
        self.temporary = temporary
        inode = record.inode
        self.size = size
    }

    deinit {
        if !isLeft {
            journal?.close(removing: true)
            unsafe unlink(temporary)
        }
        close(descriptor)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var rest = unsafe bytes
        while let start = rest.baseAddress, rest.count > 0 {
            let count = unsafe Glibc.write(descriptor, start, rest.count)
            if count >= 0 {
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                size += Int64(count)
            } else if Glibc.errno != EINTR {
                throw Self.failure(path)
            }
        }
        journal?.note(size, in: descriptor)
    }

    /// Whether the temporary file still exists with all bytes written.
    ///
    /// Since bytes are appended, a file that was truncated meanwhile cannot have the right length by chance.
    var isIntact: Bool {
        guard let status = Self.status(of: descriptor), Int64(status.st_size) == size else { return false }
        var named = stat()
        return unsafe lstat(temporary, &named) == 0 && named.st_ino == status.st_ino && named.st_dev == status.st_dev
    }

    /// Starts a journal of the following writes.
    func keep(_ journal: ResumeJournal) {
        self.journal = journal
        // A resumed part has no journal yet.
        if size > 0 { journal.note(size, in: descriptor) }
    }

    /// Gives the file its name, replacing an older file.
    func publish() throws(Failure) {
        guard isIntact else {
            throw Failure(message: "\(path) cannot be written: its temporary file was changed", errno: 0)
        }
        guard unsafe rename(temporary, path) == 0 else { throw Self.failure(path) }
        isLeft = true
        journal?.close(removing: true)
    }

    /// Keeps the temporary file for resuming.
    ///
    /// - Returns: When it was last written, in nanoseconds since 1970; nil if it no longer exists.
    func leave() -> Int64? {
        guard isIntact, let status = Self.status(of: descriptor) else { return nil }
        isLeft = true
        journal?.close(removing: false)
        // A thread of the journal may hold the file open for another while.
        flock(descriptor, LOCK_UN)
        return Self.modified(status)
    }

    /// The number of bytes of a record's file that can be resumed; 0 if the file has changed.
    static func bytesLeft(of record: ResumeRecord) -> Int64 {
        var status = stat()
        guard unsafe lstat(record.temporary, &status) == 0 else { return 0 }
        return sizeLeft(status, record) ?? 0
    }

    /// The number of bytes of a file that can be resumed; nil if it has changed.
    private static func sizeLeft(_ status: stat, _ record: ResumeRecord) -> Int64? {
        let size = Int64(status.st_size)
        guard status.st_mode & S_IFMT == S_IFREG, UInt64(status.st_ino) == record.inode else { return nil }
        // A record of the exact state requires that state.
        if let modified = record.modified {
            return size == record.count && Self.modified(status) == modified ? size : nil
        }
        guard size >= record.count else { return nil }
        // After a reboot, bytes beyond the last sync may be lost or damaged; within the same boot they are intact.
        return MachineStart.isPresent(record.start) && size <= record.total ?? .max ? size : record.count
    }

    /// Moves a temporary file to the folder of `path`, unless it is there; nil if that cannot be done.
    private static func bring(_ temporary: String, to path: String, _ tag: String) -> String? {
        let target = Self.temporary(for: path, tag)
        if folder(of: absolute(path)) == folder(of: temporary) { return temporary }
        return unsafe rename(temporary, target) == 0 ? target : nil
    }

    private static func temporary(for path: String, _ tag: String) -> String {
        let name = tag + String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(folder(of: absolute(path)))\(ResumeRecord.prefix)\(name)\(ResumeRecord.suffix)"
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }

    private static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The absolute path, if the working folder can be determined.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? status : nil
    }

    private static func modified(_ status: stat) -> Int64 {
        Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }

    private static func failure(_ path: String) -> Failure {
        let code = Glibc.errno
        return Failure(message: "\(path) cannot be written: \(systemMessage(code))", errno: code)
    }
}
