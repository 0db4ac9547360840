import ByteClubFiles
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
    private let file: OwnedDescriptor<Failure>
    private var isLeft = false
    private var journal: ResumeJournal?

    private static let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    /// Creates an empty file.
    init(path: String, tag: String = "") throws(Failure) {
        guard !path.isEmpty, !path.utf8.contains(0), path.utf8.last != UInt8(ascii: "/") else {
            throw Failure(message: "the path of the download has no file name", errno: EINVAL)
        }
        self.path = path
        temporary = Self.temporary(for: path, tag)
        file = try OwnedDescriptor(temporary, Self.flags | O_CREAT | O_EXCL, mode: 0o666, shownAs: path)
        _ = try? file.lock()
        inode = (try? file.fileStatus().inode) ?? 0
        size = 0
    }

    /// Opens a file to resume; nil if it is missing, in use, or changed.
    ///
    /// It is searched beside `path` first, since the folder may have been renamed, and moved there from another folder.
    /// A file that cannot be resumed is removed, since the record owns it.
    init?(continuing record: ResumeRecord, at path: String, tag: String = "") {
        var found = Self.folder(of: Self.absolute(path)) + Self.name(of: record.temporary)
        var opened = try? OwnedDescriptor<Failure>(found, Self.flags)
        if opened == nil {
            found = record.temporary
            opened = try? OwnedDescriptor(found, Self.flags)
        }
        guard let file = opened, (try? file.lock()) == true, let status = try? file.fileStatus(),
            status.inode == record.inode
        else { return nil }
        guard let size = Self.sizeLeft(status, record), (try? file.truncate(to: size)) != nil,
            let temporary = Self.bring(found, to: path, tag)
        else {
            unsafe unlink(found)
            return nil
        }
        self.file = file
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
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        let (count, code) = unsafe writeAll(bytes, to: file.number)
        size += Int64(count)
        if code != 0 { throw Failure(FileFailure("write", path, code)) }
        journal?.note(size, in: file.number)
    }

    /// Whether the temporary file still exists with all bytes written.
    ///
    /// Since bytes are appended, a file that was truncated meanwhile cannot have the right length by chance.
    var isIntact: Bool {
        guard let status = try? file.fileStatus(), status.size == size else { return false }
        return FileStatus(temporary, followsLinks: false)?.isSame(as: status) == true
    }

    /// Starts a journal of the following writes.
    func keep(_ journal: ResumeJournal) {
        self.journal = journal
        // A resumed part has no journal yet.
        if size > 0 { journal.note(size, in: file.number) }
    }

    /// Gives the file its name, replacing an older file.
    func publish() throws(Failure) {
        guard isIntact else {
            throw Failure(message: "\(path) cannot be written: its temporary file was changed", errno: 0)
        }
        guard unsafe rename(temporary, path) == 0 else { throw Failure(FileFailure("rename", path)) }
        isLeft = true
        journal?.close(removing: true)
    }

    /// Keeps the temporary file for resuming.
    ///
    /// - Returns: When it was last written, in nanoseconds since 1970; nil if it no longer exists.
    func leave() -> Int64? {
        guard isIntact, let status = try? file.fileStatus() else { return nil }
        isLeft = true
        journal?.close(removing: false)
        // A thread of the journal may hold the file open for another while.
        flock(file.number, LOCK_UN)
        return Self.modified(status)
    }

    /// The number of bytes of a record's file that can be resumed; 0 if the file has changed.
    static func bytesLeft(of record: ResumeRecord) -> Int64 {
        FileStatus(record.temporary, followsLinks: false).flatMap { sizeLeft($0, record) } ?? 0
    }

    /// The number of bytes of a file that can be resumed; nil if it has changed.
    private static func sizeLeft(_ status: FileStatus, _ record: ResumeRecord) -> Int64? {
        let size = status.size
        guard status.isFile, status.inode == record.inode else { return nil }
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
        guard !path.hasPrefix("/"), let folder = workingFolder() else { return path }
        return folder + "/" + path
    }

    private static func modified(_ status: FileStatus) -> Int64 {
        status.modified &* 1_000_000_000 &+ status.nanoseconds
    }
}

extension DownloadFile.Failure: FileFailureConvertible {
    init(_ failure: FileFailure) {
        self.init(message: "\(failure.path) cannot be written: \(failure.reason)", errno: failure.code)
    }
}
