import ByteClubCore
import ByteClubFiles
import Crypto
import GRDB
import Glibc
import Logging
import Synchronization

/// The embedded store: one SQLite database in WAL mode with the tree, small contents, members and uploads, and a
/// folder of files for large contents.
///
/// One process may open a data directory as the server; any number may beside it open it for administration.
final class SQLiteStore: ClubStore {
    /// The name of the database's file in the data directory.
    static let databaseName = "byteclub.sqlite"
    /// The name of the file that a server locks, and that is there from the first one on.
    static let lockName = "lock"

    /// The purpose of opening a data directory.
    enum Mode: Sendable {
        /// To serve it, alone.
        case server
        /// To look at it and to manage its members, while a server runs or not.
        case administration
    }

    let epoch: String
    let signingKey: SymmetricKey
    let files: FileBlobStore
    let chunks: any ChunkStore
    let pool: DatabasePool
    let writer: GroupCommit
    let claims = UploadClaims()
    let underWay = BytesUnderWay()
    let directory: String
    let settings: HistorySettings
    let now: @Sendable () -> APIDate
    let uptime: @Sendable () -> Uptime
    let logger: Logger
    let memberCache = MemberCache()
    let memberNames = MemberNames()
    /// The club's name as the database has it.
    let knownClubName = Mutex<String?>(nil)
    let signal: ChangeSignal
    private let lock: Descriptor?
    private let isClosed = Atomic(false)

    /// Opens a data directory, makes it when it is missing, and repairs it after a crash.
    ///
    /// - Parameters:
    ///   - directory: Where the data is.
    ///   - mode: The purpose.
    ///   - readers: How many queries a server runs at a time.
    ///   - settings: The limits of history and of storage.
    ///   - now: The wall clock.
    ///   - uptime: The clock that cannot be set.
    ///   - logger: The log of repairs.
    /// - Throws: ``StorageError`` `inUse` when another server has it, `damaged` when the database is, and failures of
    ///   the disk.
    init(
        directory: String, mode: Mode = .server, readers: Int = 8,
        settings: HistorySettings = HistorySettings(),
        now: @escaping @Sendable () -> APIDate, uptime: @escaping @Sendable () -> Uptime = Uptime.now,
        logger: Logger
    ) throws {
        self.directory = directory
        self.settings = settings
        self.now = now
        self.uptime = uptime
        self.logger = logger
        try Directory.make(directory)
        if mode == .server, let exposure = Directory.exposure(directory) { logger.warning("\(exposure)") }
        lock = try mode == .server ? Self.lock(directory) : nil
        let wasLeftOpen = try lock.map { try Self.mark($0) } ?? false
        // Before another process makes it. The collection of contents reports a lock that cannot be opened.
        if mode == .server { _ = try? Self.contentsLock(directory) }
        do {
            files = try FileBlobStore(directory: directory)
            chunks = try FileChunkStore(directory: directory, files: files, now: now)
            pool = try Self.open(
                directory + "/" + Self.databaseName, mode: mode, readers: readers, wasLeftOpen: wasLeftOpen,
                logger: logger)
            // A server of the version before must not go on writing to a database of this one.
            let migrating = try mode == .administration && Schema.isOld(pool) ? Self.lock(directory) : nil
            try Schema.migrate(pool)
            withExtendedLifetime(migrating) {}
            if mode == .server {
                Checkpointer.catchUp(pool)
                try Self.beginAnew(pool, logger: logger)
                try Self.checkIndex(pool)
            }
            let (epoch, key, last) = try pool.read { database in
                (
                    try Self.storedText(Schema.Meta.epoch, in: database),
                    try Self.storedText(Schema.Meta.signingKey, in: database),
                    try SQLiteFolderState.lastRevision(in: database)
                )
            }
            guard let secret = Hexadecimal.decode(key) else {
                throw StorageError(.damaged, "the signing key is not hexadecimal")
            }
            self.epoch = epoch
            signingKey = SymmetricKey(data: secret)
            signal = ChangeSignal(lastRevision: last)
            let checkpointer = try mode == .server ? Checkpointer(path: directory + "/" + Self.databaseName) : nil
            writer = GroupCommit(
                pool: pool, files: files, settings: settings, checkpointer: checkpointer, signal: signal)
            try readClubName()
            if mode == .server { try recoverStaging() }
        } catch {
            // Nothing was served, so the next start has no crash to look for.
            if !wasLeftOpen { try? lock?.truncate(to: 0) }
            throw StorageError.translating(error)
        }
    }

    var blobs: any BlobStore { files }

    /// How many callers wait for a change.
    var waiterCount: Int { signal.waiterCount }

    var statistics: StoreStatistics {
        var statistics = writer.statistics
        statistics.waiting = waiterCount
        return statistics
    }

    func close() throws {
        // A pool that is closed has no connection to ask.
        if isClosed.exchange(true, ordering: .sequentiallyConsistent) { return }
        do {
            try writer.close()
            if lock != nil {
                // The pool's last connection can only read, so it would not empty the log into the database.
                _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            }
            try pool.close()
            try lock?.truncate(to: 0)
        } catch {
            throw StorageError.translating(error)
        }
    }

    /// Runs a closure on a snapshot of the database.
    func query<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do {
            return try await pool.read(body)
        } catch {
            throw StorageError.translating(error)
        }
    }

    /// A text of the table `meta` that is always there.
    private static func storedText(_ name: String, in database: Database) throws -> String {
        guard let text: String = try database.meta(name) else {
            throw StorageError(.damaged, "the database has no '\(name)'")
        }
        return text
    }

    private static func lock(_ directory: String) throws -> Descriptor {
        let lock = try Descriptor(path: directory + "/" + lockName, flags: O_RDWR | O_CREAT)
        guard try lock.lock() else {
            let text = try? String(decoding: lock.read(4096, at: 0), as: UTF8.self)
            let holder = text.flatMap { text in
                LockHolder(lock: text) { fileText("/proc/\($0)/cgroup", upTo: 4096) }
            }
            // The file may name a server that has crashed, or one in another container with numbers of its own.
            let known = holder.flatMap { lock.isOpen(inProcess: $0.process) ? $0 : nil }
            let advice = known.map { ": process \($0.process); '\($0.ending)' ends it" } ?? ""
            throw StorageError(.inUse, "another server is using '\(directory)'\(advice)")
        }
        return lock
    }

    /// Marks the data as being served until ``close()``; true when it was so already, since the server before crashed.
    private static func mark(_ lock: Descriptor) throws -> Bool {
        let wasServed = try lock.length() > 0
        let text = Array("served \(getpid())\n".utf8)
        // A disk that is full must not keep the server from starting.
        try? lock.write(text, at: 0)
        if wasServed {
            // The text before may have been longer; it is never empty meanwhile.
            try? lock.truncate(to: Int64(text.count))
        } else {
            try? lock.sync()
        }
        return wasServed
    }

    /// Opens the database of a directory to look at it, one that cannot be written, too.
    static func openToRead(_ directory: String, readers: Int) throws -> DatabasePool {
        let path = directory + "/" + databaseName
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = readers
        configuration.label = "byteclub.read"
        if Directory.isWritable(directory) { return try DatabasePool(path: path, configuration: configuration) }
        configuration.readonly = true
        // SQLite wants to make a log and its index unless the database is immutable. The content of an existing log
        // must be read, too.
        let isWhole = Directory.fileLength(path + "-wal") ?? 0 == 0
        return try DatabasePool(
            path: isWhole ? "file:\(PercentEncoding.encode(path))?immutable=1" : path, configuration: configuration)
    }

    private static func open(
        _ path: String, mode: Mode, readers: Int, wasLeftOpen: Bool, logger: Logger
    ) throws -> DatabasePool {
        // SQLite gives its other files the mode of this one.
        _ = try Descriptor(path: path, flags: O_RDWR | O_CREAT)
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = mode == .server ? readers : 1
        configuration.foreignKeysEnabled = false
        configuration.label = "byteclub.storage"
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.writeWithoutTransaction { database in
            let pages = mode == .server ? 0 : 4000
            try database.execute(
                sql: """
                    PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = \(pages); PRAGMA cache_size = -8192
                    """)
        }
        if wasLeftOpen {
            logger.notice("the server did not stop cleanly; checking the database")
            let answer = try pool.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
            guard answer == "ok" else {
                throw StorageError(.damaged, "the database is damaged: \(answer ?? "no answer to the check")")
            }
        }
        return pool
    }
}
