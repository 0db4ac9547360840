import Glibc

/// A file that appears under its name only when it is whole.
///
/// Bytes go to a hidden temporary file in the same folder, which is removed unless ``publish()`` renamed it or
/// ``leave()`` left it to somebody. A temporary file only ever holds bytes of one representation, each written behind
/// the one before: whoever starts over takes another file. It is locked while it is open, so no two tasks continue it.
/// Belongs to the loop's thread. Nothing is synced to disk but for a journal; who needs that does it after the rename.
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

    /// Makes an empty one.
    init(path: String, tag: String = "") throws(Failure) {
        guard !path.isEmpty, !path.utf8.contains(0), path.utf8.last != UInt8(ascii: "/") else {
            throw Failure(message: "there is no file name to download to", errno: EINVAL)
        }
        self.path = path
        temporary = Self.temporary(for: path, tag)
        descriptor = unsafe open(temporary, Self.flags | O_CREAT | O_EXCL, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path) }
        flock(descriptor, LOCK_EX | LOCK_NB)
        inode = Self.status(of: descriptor).map { UInt64($0.st_ino) } ?? 0
        size = 0
    }

    /// Opens one that was left; nil if it is gone, in use, or not as it was left.
    ///
    /// It is looked for beside `path` first: the folder may have another name by now. It is moved there if it is in
    /// another one. One that cannot be continued is removed: it is the record's, and nobody else has that.
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

    /// Whether the temporary file is still there, with as many bytes as were written.
    ///
    /// Since all are appended, a file that was shortened meanwhile cannot have its length by chance.
    var isIntact: Bool {
        guard let status = Self.status(of: descriptor), Int64(status.st_size) == size else { return false }
        var named = stat()
        return unsafe lstat(temporary, &named) == 0 && named.st_ino == status.st_ino && named.st_dev == status.st_dev
    }

    /// Keeps a journal of what is written from now on.
    func keep(_ journal: ResumeJournal) {
        self.journal = journal
        // The journal of a part that came from elsewhere is not there yet.
        if size > 0 { journal.note(size, in: descriptor) }
    }

    /// Gives the file its name, replacing what had it.
    func publish() throws(Failure) {
        guard isIntact else {
            throw Failure(message: "\(path) cannot be written: its temporary file was changed", errno: 0)
        }
        guard unsafe rename(temporary, path) == 0 else { throw Self.failure(path) }
        isLeft = true
        journal?.close(removing: true)
    }

    /// Leaves the temporary file as it is; when it was last written, in nanoseconds since 1970, or nil if it is gone.
    func leave() -> Int64? {
        guard isIntact, let status = Self.status(of: descriptor) else { return nil }
        isLeft = true
        journal?.close(removing: false)
        // A thread of the journal may hold the file open for another while.
        flock(descriptor, LOCK_UN)
        return Self.modified(status)
    }

    /// How many bytes of the file that a record tells of may be continued; 0 if it is not as it was left.
    static func bytesLeft(of record: ResumeRecord) -> Int64 {
        var status = stat()
        guard unsafe lstat(record.temporary, &status) == 0 else { return 0 }
        return sizeLeft(status, record) ?? 0
    }

    /// How many bytes of a file that was left may be continued; nil if it is not as it was left.
    private static func sizeLeft(_ status: stat, _ record: ResumeRecord) -> Int64? {
        let size = Int64(status.st_size)
        guard status.st_mode & S_IFMT == S_IFREG, UInt64(status.st_ino) == record.inode else { return nil }
        // What is said to be exact must be.
        if let modified = record.modified {
            return size == record.count && Self.modified(status) == modified ? size : nil
        }
        guard size >= record.count else { return nil }
        // What grew since it was synced may be gone or half there after a power cut, and after nothing else.
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

    /// The path from the root, as far as the working folder can be told.
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
