import ByteClubCore
import ByteClubFiles
import Logging

/// A club's data directory, and the only place that chooses a storage for it.
struct DataDirectory: Sendable {
    /// The path of the directory.
    let path: String

    /// Opens the data to serve it, alone; makes the directory when it is missing, and repairs what a crash left.
    ///
    /// - Parameters:
    ///   - settings: The limits of history and of storage.
    ///   - readers: How many queries run at a time.
    ///   - logger: The log of repairs.
    /// - Returns: The club.
    /// - Throws: ``StorageError`` `inUse` when another server has it, `damaged` when it cannot be read, and what the
    ///   disk does.
    func serve(_ settings: HistorySettings, readers: Int, logger: Logger) throws -> any ClubStore {
        try SQLiteStore(directory: path, readers: readers, settings: settings, now: Self.now, logger: logger)
    }

    /// Opens the data to look at it and to manage its members, while a server runs or not; makes a missing directory
    /// when `making` is set.
    ///
    /// - Throws: ``StorageError`` `missing` when there is none and none is made.
    func administer(making: Bool, logger: Logger) throws -> any ClubStore {
        guard making || holdsClub else {
            throw StorageError(.missing, "no club in '\(path)'")
        }
        return try SQLiteStore(directory: path, mode: .administration, now: Self.now, logger: logger)
    }

    /// Checks the data for consistency, or a copy that was just made, and changes nothing.
    ///
    /// - Throws: ``StorageError`` `missing` when there is nothing, `damaged` when it cannot be read at all.
    func verify(_ extent: Verifier.Extent = .everything) async throws -> VerificationReport {
        try await Verifier(directory: path).run(extent)
    }

    /// Empties the search index, so that the server builds it again.
    ///
    /// - Throws: ``StorageError`` `missing` when there is nothing.
    func reindex(logger: Logger) async throws {
        let store = try administer(making: false, logger: logger)
        try await store.forgetTexts()
        try store.close()
    }

    /// Copies the data to a directory that is empty or not there, while a server runs or not.
    ///
    /// - Throws: ``StorageError`` `missing` when there is nothing to copy, `exists` when there is something at the
    ///   target.
    func copy(to target: String, sharing: CopySharing) throws -> CopySummary {
        try DirectoryCopy(from: path, to: target, sharing: sharing).make()
    }

    /// Locks the contents against readers and collection for as long as the result lives; nil while another process
    /// uses them.
    func lockContents() throws -> Descriptor? {
        let lock = try SQLiteStore.contentsLock(path)
        return try lock.lock() ? lock : nil
    }

    /// Whether there is a club's data.
    var holdsClub: Bool { Directory.fileLength(path + "/" + SQLiteStore.databaseName) != nil }

    /// Whether a server has had the data, and may have changed it.
    var wasServed: Bool { Directory.fileLength(path + "/" + SQLiteStore.lockName) != nil }

    private static let now = { @Sendable in APIDate(seconds: SystemTime.seconds()) }
}

/// With what a copy of a data directory shares large contents, where the file system lets a file have two names.
enum CopySharing: Hashable, Sendable {
    /// With nothing: all is copied.
    case nothing
    /// With the original.
    case original
    /// With an earlier backup, and what that does not have with the original.
    case backup(String)
}

/// The contents of a copy of a data directory.
struct CopySummary: Hashable, Sendable {
    /// How many large contents there are.
    var contents = 0
    /// How many of them share their bytes with the original or an earlier backup, by a second name on the same file
    /// system.
    var linked = 0
    /// How many bytes the copy has.
    var bytes: Int64 = 0
    /// How many of them are shared.
    var sharedBytes: Int64 = 0
}
