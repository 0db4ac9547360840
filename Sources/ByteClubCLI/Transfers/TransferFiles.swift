import ByteClubCore
import ByteClubHTTP
import CLinux
import Glibc

/// The files of one photo's transfer beside its record: they last until it has ended.
struct TransferFiles: Sendable {
    /// How long files are kept that nobody goes on with, in seconds: longer than a transfer is known.
    private static let lifetime: Int64 = 40 * 86_400

    private let base: String

    /// Those of a transfer; another one of the same photo has its own.
    init(_ id: BackgroundTask.ID, _ context: Context) { base = "\(context.directories.transferFiles)/\(id)" }

    /// Those of a photo's download to a file that a command waits for: the same whenever it is asked for again.
    ///
    /// - Throws: A ``FileError`` when the working directory cannot be told.
    init(of photo: RemotePath, to file: String, from server: ServerAddress, _ context: Context) throws {
        let file = try LocalFile.absolute(file, in: context.workingDirectory())
        let identity = ContentHasher.hash(Array("\(server)\n\(photo.key)\n\(file)".utf8))
        base = "\(context.directories.transferFiles)/\(identity.description.prefix(16))"
    }

    /// The changed photo that is sent.
    var changed: String { base + ".jpg" }
    /// Where a download stands.
    var journal: String { base + ".resume" }

    /// A name beside a file for what is to become it.
    func part(of file: String) -> String { LocalFile.hiddenName(beside: file, LocalFile.name(of: base)) }

    /// Makes the folder.
    func prepare() throws { try LocalFile.makePrivateDirectory(LocalFile.parent(of: base)) }

    /// Takes the files for this process alone, until ``unlock(_:)`` or its end; nil when another one has them.
    func lock() -> Int32? {
        let descriptor = unsafe byteclub_open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        var (held, named) = (stat(), stat())
        // Whoever had it before may have removed it meanwhile.
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0, unsafe fstat(descriptor, &held) == 0,
            unsafe lstat(lockPath, &named) == 0, held.st_ino == named.st_ino
        {
            return descriptor
        }
        close(descriptor)
        return nil
    }

    /// Gives the files back.
    func unlock(_ descriptor: Int32) {
        unsafe unlink(lockPath)
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private var lockPath: String { base + ".lock" }

    /// Where an earlier attempt of a download stands; its file stays, whoever looks at it.
    var earlier: ResumeData? { Self.earlier(journal) }

    /// Removes what is of no use once a photo is where it belongs.
    func remove() { for path in [changed, journal] { unsafe unlink(path) } }

    /// Removes all of it, also what came of a file.
    func discard() {
        Self.discard(journal)
        remove()
    }

    /// Removes a journal and what came of its download.
    static func discard(_ journal: String) {
        earlier(journal)?.discard()
        unsafe unlink(journal)
    }

    /// Removes what transfers left that were forgotten unfinished.
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

    /// What a journal tells of an earlier attempt.
    static func earlier(_ journal: String) -> ResumeData? {
        guard journal.hasSuffix(".resume"), let bytes = try? LocalFile.read(journal, limit: 1 << 20) else { return nil }
        return try? ResumeData(bytes: bytes)
    }
}
