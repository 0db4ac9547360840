public import ByteClubCore
import CLinux
import Glibc

extension SyncEngine {
    /// Explains a path relative to the mirror's root: its state on each side, what is planned, and what blocks it.
    ///
    /// - Returns: One explanation for each entry at the path; none when it is unknown.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be read.
    public static func explain(
        _ path: String, of configuration: SyncConfiguration
    ) throws(SyncError) -> [SyncExplanation] {
        let directory = configuration.directory
        let facts = ExplainerFacts(
            isRunning: configuration.isRunning, now: WallClock.now() / 1_000_000_000,
            ignoreText: ignoreText(in: directory),
            onDisk: { DiskObservation(directory + "/" + $0) })
        if let answers = try configuration.read({ try Explainer($0, facts).explain(path) }) { return answers }
        do {
            return try Explainer(SQLiteTreeStore.scratchCopy(path: configuration.databasePath), facts).explain(path)
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    /// The mirror's ignore file; empty when there is none or it is larger than one may be.
    private static func ignoreText(in directory: String) -> String {
        guard
            let file = try? FileDescriptor.open(directory + "/" + IgnoreRules.fileName, O_RDONLY | O_NONBLOCK)
        else { return "" }
        var bytes = [UInt8](repeating: 0, count: IgnoreRules.maximumFileBytes)
        let count = (try? file.read(into: &bytes, at: 0)) ?? 0
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

extension DiskObservation {
    /// Observes an absolute path.
    fileprivate init(_ path: String) {
        var status = byteclub_status()
        if unsafe byteclub_statx(AT_FDCWD, path, &status) == 0 {
            self = .entry(isFolder: status.mode & S_IFMT == S_IFDIR, FileFingerprint(status))
        } else {
            self = errno == ENOENT || errno == ENOTDIR ? .nothing : .unknown
        }
    }
}
