import ByteClubCore
import ByteClubHTTP
import Glibc

/// The files of one photo's transfer beside its record: they last until it has ended.
struct TransferFiles: Sendable {
    /// How long files are kept that nobody goes on with, in seconds: longer than a transfer is known.
    private static let lifetime: Int64 = 40 * 86_400

    private let base: String

    /// Those of a transfer; another one of the same photo has its own.
    init(_ id: BackgroundTask.ID, _ context: Context) { base = "\(context.directories.transferFiles)/\(id)" }

    /// The changed photo that is sent.
    var changed: String { base + ".jpg" }
    /// Where a download stands.
    var journal: String { base + ".resume" }

    /// A name beside a file for what is to become it.
    func part(of file: String) -> String { LocalFile.hiddenName(beside: file, LocalFile.name(of: base)) }

    /// Makes the folder.
    func prepare() throws { try LocalFile.makePrivateDirectory(LocalFile.parent(of: base)) }

    /// Where an earlier attempt of a download stands; its file stays, whoever looks at it.
    var earlier: ResumeData? { Self.earlier(journal) }

    /// Removes what is of no use once a photo is where it belongs.
    func remove() { for path in [changed, journal] { unsafe unlink(path) } }

    /// Removes all of it, also what came of a file.
    func discard() {
        earlier?.discard()
        remove()
    }

    /// Removes what transfers left that were forgotten unfinished.
    static func removeExpired(_ context: Context) {
        let directory = context.directories.transferFiles
        for name in LocalFile.names(in: directory) {
            let path = directory + "/" + name
            guard let time = try? LocalFile.modified(path), time.date.seconds < context.now() - lifetime else {
                continue
            }
            earlier(path)?.discard()
            unsafe unlink(path)
        }
    }

    private static func earlier(_ journal: String) -> ResumeData? {
        guard journal.hasSuffix(".resume"), let bytes = try? LocalFile.read(journal, limit: 1 << 20) else { return nil }
        return try? ResumeData(bytes: bytes)
    }
}
