import ByteClubCore
import ByteClubFiles
import ByteClubHTTP
import CLinux
import Glibc

/// The files of a photo's transfer beside its record, kept until it has ended.
struct TransferFiles: Sendable {
    /// Seconds that abandoned files are kept: longer than a transfer is listed.
    private static let lifetime: Int64 = 40 * 86_400

    private let base: String

    /// The files of a transfer; another one of the same photo has its own.
    init(_ id: BackgroundTask.ID, _ context: Context) { base = "\(context.directories.transferFiles)/\(id)" }

    /// The files of a photo's download by a command: the same for each run of the command.
    ///
    /// - Throws: A ``FileFailure`` when the working directory is unknown.
    init(of photo: RemotePath, to file: String, from server: ServerAddress, _ context: Context) throws {
        let file = try LocalFile.absolute(file, in: context.workingDirectory())
        let identity = ContentHasher.hash(Array("\(server)\n\(photo.key)\n\(file)".utf8))
        base = "\(context.directories.transferFiles)/\(identity.description.prefix(16))"
    }

    /// The changed photo that is sent.
    var changed: String { base + ".jpg" }
    /// The journal of a download's progress.
    var journal: String { base + ".resume" }

    /// The name of a partial file beside its target.
    func part(of file: String) -> String { LocalFile.hiddenName(beside: file, LocalFile.name(of: base)) }

    /// Makes the folder.
    func prepare() throws { try LocalFile.makePrivateDirectory(LocalFile.parent(of: base)) }

    /// Locks the files until ``unlock(_:)`` or the process's end; nil when another process holds the lock.
    func lock() -> OwnedDescriptor<FileFailure>? {
        guard let lock = try? OwnedDescriptor<FileFailure>(lockPath, O_RDWR | O_CREAT), (try? lock.lock()) == true,
            // The previous holder may have removed the lock file.
            let held = try? lock.fileStatus(), held.inode == FileStatus(lockPath, followsLinks: false)?.inode
        else { return nil }
        return lock
    }

    /// Gives the files back with the last reference to the lock, which still has them here.
    func unlock(_ lock: OwnedDescriptor<FileFailure>) { unsafe unlink(lockPath) }

    private var lockPath: String { base + ".lock" }

    /// The progress of an earlier attempt; reading it keeps the file.
    var earlier: ResumeData? { Self.earlier(journal) }

    /// Removes files that are useless after a transfer.
    func remove() { for path in [changed, journal] { unsafe unlink(path) } }

    /// Removes all files, partial ones included.
    func discard() {
        Self.discard(journal)
        remove()
    }

    /// Removes a journal and its partial file.
    static func discard(_ journal: String) {
        earlier(journal)?.discard()
        unsafe unlink(journal)
    }

    /// Removes files of transfers that were removed unfinished.
    static func removeExpired(_ context: Context) {
        let directory = context.directories.transferFiles
        for name in LocalFile.names(in: directory) {
            let path = directory + "/" + name
            guard let time = try? LocalFile.modified(path), time.date.seconds < context.now() - lifetime else {
                continue
            }
            discard(path)
        }
    }

    /// The progress that a journal records.
    static func earlier(_ journal: String) -> ResumeData? {
        guard journal.hasSuffix(".resume"), let bytes = try? LocalFile.read(journal, limit: 1 << 20) else { return nil }
        return try? ResumeData(bytes: bytes)
    }
}
