import ByteClubCore
import CLinux
import GRDB
import Glibc

/// One mirror while it is open: the directory on disk, its database, and everything that is done to the two.
///
/// All of it happens on one thread, one call at a time, so each call sees the effects of those before it whole.
actor Mirror {
    nonisolated let thread: ThreadExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    let configuration: SyncConfiguration
    let store: MirrorStore
    /// The root; nil only in a rehearsal of a mirror that is not there yet.
    let files: MirrorDirectory?
    /// What is ours alone; nil in a rehearsal.
    let area: PrivateArea?
    let probe: SyncProbe
    let identity: String
    private let lock: MirrorLock?

    var rules = IgnoreRules()
    var problems: [PathKey: [Problem]]
    var frozen: Set<PathKey>
    /// Files that somebody is writing, and when to look again.
    var busy: [PathKey: BusyFile] = [:]
    /// Folders where an effect met something unexpected, to be scanned before the next plan.
    var suspects: Set<String> = []
    /// The rows of the plan that is being carried out, and where they are on disk.
    var rows: [PathKey: MirrorRow] = [:]
    var paths: [PathKey: String] = [:]
    var walk: DirectoryWalk?
    var finishedUploads: [FinishedUpload] = []
    /// Conflict copies made of edits that came while their files were replaced.
    var madeConflicts: [(path: String, copy: String)] = []
    /// Told of each folder before it is listed.
    var watch: (@Sendable (FileDescriptor, String) -> Void)?

    /// A file that could not be taken because it was open for writing.
    struct BusyFile {
        var until: ContinuousClock.Instant
        var delay: Duration
    }

    /// Opens a mirror and clears up after an engine that was stopped in the middle.
    init(_ configuration: SyncConfiguration, probe: SyncProbe) throws {
        self.configuration = configuration
        self.probe = probe
        thread = try ThreadExecutor()
        try MirrorLock.makeDirectories(configuration.stateDirectory, mode: 0o700)
        guard let lock = try MirrorLock(in: configuration.stateDirectory) else {
            throw SyncError(.alreadyRunning, "another process syncs '\(configuration.directory)' already")
        }
        self.lock = lock
        store = try Self.openStore(configuration.databasePath, wasUnclean: lock.wasUnclean)
        let identity = try store.meta(.identity) ?? Self.newIdentity()
        if try store.meta(.identity) == nil { try store.setMeta(.identity, identity) }
        self.identity = identity
        let files = try Self.openRoot(configuration, store: store, identity: identity, isRehearsal: false)
        self.files = files
        area = try files.map { directory in
            let area = try PrivateArea(in: directory)
            if try PrivateArea.marker(in: directory) != identity { try area.setMarker(identity) }
            return area
        }
        let problems = try store.problems()
        self.problems = problems
        frozen = Set(problems.values.joined().compactMap(\.key))
    }

    /// Opens a mirror to see what would be done: database and directory stay as they are.
    init(rehearsing configuration: SyncConfiguration) throws {
        self.configuration = configuration
        probe = SyncProbe()
        thread = try ThreadExecutor()
        lock = nil
        area = nil
        let exists = unsafe access(configuration.databasePath, F_OK) == 0
        store = try MirrorStore(copyOf: configuration.databasePath, exists: exists)
        identity = try store.meta(.identity) ?? ""
        files = try Self.openRoot(configuration, store: store, identity: identity, isRehearsal: true)
        let problems = try store.problems()
        self.problems = problems
        frozen = Set(problems.values.joined().compactMap(\.key))
    }

    /// Closes the database in order.
    func close() throws {
        try store.close()
        lock?.markClean()
    }

    private static func openStore(_ path: String, wasUnclean: Bool) throws -> MirrorStore {
        do {
            let store = try MirrorStore(path: path)
            if !wasUnclean || store.isSound { return store }
            try store.close()
        } catch {
            guard MirrorStore.isDamage(error) else { throw error }
        }
        // A damaged database is kept aside; the new one learns everything by comparing hashes.
        let stamp = WallClock.now() / 1_000_000_000
        for suffix in ["", "-wal", "-shm"] { _ = unsafe rename(path + suffix, "\(path).damaged-\(stamp)\(suffix)") }
        return try MirrorStore(path: path)
    }

    private static func newIdentity() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// The guard against a mirror that is gone, not mounted, or another one: nothing is ever inferred from those.
    private static func openRoot(
        _ configuration: SyncConfiguration, store: MirrorStore, identity: String, isRehearsal: Bool
    ) throws -> MirrorDirectory? {
        let path = configuration.directory
        let hasSynced = try store.hasSynced
        let files: MirrorDirectory
        do throws(FileError) {
            files = try MirrorDirectory(path)
        } catch {
            guard error.isMissing, unsafe access(path, F_OK) != 0 else { throw error }
            if hasSynced {
                throw SyncError(
                    .rootMissing, "the mirror '\(path)' is gone; nothing was deleted: put it back or mount its disk")
            }
            if isRehearsal { return nil }
            try MirrorLock.makeDirectories(path, mode: 0o777)
            let files = try MirrorDirectory(path)
            try store.setMeta(.fileSystem, files.fileSystem)
            return files
        }
        if hasSynced { try check(files, path: path, store: store, identity: identity) }
        if !isRehearsal, try store.meta(.fileSystem) != files.fileSystem {
            try store.setMeta(.fileSystem, files.fileSystem)
        }
        return files
    }

    private static func check(
        _ files: MirrorDirectory, path: String, store: MirrorStore, identity: String
    ) throws {
        let remedy = "to take it as a new mirror, remove '\(store.queue.path)'"
        guard try PrivateArea.marker(in: files) == identity else {
            throw SyncError(
                .rootReplaced,
                "'\(path)' is not the mirror that was synced before (its marker is missing or another's); nothing was "
                    + "deleted: put the old one back, or, " + remedy)
        }
        if let known = try store.meta(.fileSystem), known != files.fileSystem {
            throw SyncError(
                .rootReplaced,
                "the mirror '\(path)' is on another disk than before; nothing was deleted: mount the old one, or, "
                    + remedy)
        }
    }

    /// Makes sure that the root is still the directory that was opened.
    func checkRoot() throws {
        guard let files else { return }
        let path = configuration.directory
        let now: MirrorDirectory
        do throws(FileError) {
            now = try MirrorDirectory(path)
        } catch {
            guard error.isMissing else { throw error }
            throw SyncError(
                .rootMissing, "the mirror '\(path)' is gone; nothing was deleted: put it back or mount its disk")
        }
        let (old, new) = (Fingerprint(try files.root.status()), Fingerprint(try now.root.status()))
        guard old.device == new.device, old.inode == new.inode, try PrivateArea.marker(in: now) == identity else {
            throw SyncError(.rootReplaced, "'\(path)' is not the mirror any more; nothing was deleted: start again")
        }
    }

    func setWatch(_ watch: @escaping @Sendable (FileDescriptor, String) -> Void) { self.watch = watch }

    /// The open directory that holds an entry, and its name there.
    func place(of path: String) throws -> (directory: FileDescriptor, name: String) {
        guard let files else { throw FileError(operation: "open", path: path, code: ENOENT) }
        var current = walk ?? DirectoryWalk(files)
        defer { walk = current }
        return try current.place(of: path)
    }

    /// Has the folder of a path scanned before the next plan.
    func suspect(_ path: String) { suspects.insert(LocalPath.split(path).parent) }

    /// Has an entry's folder scanned because the entry is not what it seemed.
    func distrust(_ key: PathKey) {
        if let path = paths[key] { suspect(path) }
        postpone(key)
    }

    /// Stores rows as one durable change.
    func commit(_ what: String, _ rows: [MirrorRow]) throws {
        if rows.isEmpty { return }
        try probe.before(.commit(what))
        try store.transaction { db in
            for row in rows { try MirrorStore.save(db, row) }
        }
    }
}
