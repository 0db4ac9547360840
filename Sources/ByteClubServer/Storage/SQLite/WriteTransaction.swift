import ByteClubCore
import FoundationEssentials
import GRDB

/// One transaction of the writer, in which several changes run one after the other.
///
/// It lives on the writer's thread, for the time of the transaction. The rows that a change wrote are undone by the
/// database; what the transaction itself remembers of it is a value that is dropped.
final class WriteTransaction {
    /// The newest versions at keys, and of entries, that were looked up or made; nil where there is none.
    private struct Lookups {
        var latest: [PathKey: FolderEntry?] = [:]
        var current: [NodeID: FolderEntry] = [:]
    }

    /// The writer's connection.
    let database: Database
    /// The accepted changes of this transaction.
    private(set) var accepted: FolderChanges
    /// The running change so far.
    private(set) var made: FolderChanges
    /// Why the whole transaction is lost, not only one change; nil while it is not.
    private(set) var failure: (any Error)?
    private let files: FileBlobStore
    private let settings: HistorySettings
    /// The large contents that came to their places in this transaction.
    private var publication: any BlobPublication
    private var lookups = Lookups()
    /// The growth of the change that runs which is known to be within the limits.
    private var checkedUsage = UsageChange()
    /// Whether the running change has a savepoint to return to.
    private var hasSavepoint = false

    /// Starts on a connection whose transaction has begun.
    init(database: Database, files: FileBlobStore, settings: HistorySettings) throws {
        (self.database, self.files, self.settings) = (database, files, settings)
        publication = files.publication()
        accepted = FolderChanges(lastRevision: try SQLiteFolderState.lastRevision(in: database))
        made = accepted
    }

    /// The number of the last change, including those of this transaction.
    var lastRevision: Int64 { made.lastRevision }

    /// The number of the last version in a folder that this transaction made; nil when it made none.
    func newestChild(_ folder: PathKey) -> Int64? {
        let isChild = { (entry: FolderEntry) in entry.path.key.parent == folder }
        return (made.entries.last(where: isChild) ?? accepted.entries.last(where: isChild))?.revision
    }

    /// Runs one change; when it throws, all that it did is undone and nothing else.
    func change<T>(_ body: () throws -> T) throws -> T {
        defer {
            made = FolderChanges(lastRevision: accepted.lastRevision)
            checkedUsage = UsageChange()
            hasSavepoint = false
        }
        do {
            let result = try body()
            try checkQuota()
            if hasSavepoint { try database.run("RELEASE change") }
            accepted.add(made)
            return result
        } catch {
            // Entries that the change looked up may not exist any more, such as those in a folder's new place.
            lookups = Lookups()
            rollBackChange(after: error)
            throw error
        }
    }

    private func rollBackChange(after error: any Error) {
        // A full or failing disk ends the whole transaction by itself, also while a change only looks.
        guard database.isInsideTransaction else { return failure = error }
        guard hasSavepoint else { return }
        do {
            try database.run("ROLLBACK TO change")
            try database.run("RELEASE change")
        } catch {
            failure = error
        }
    }

    /// Sets the savepoint to which a failing change returns; changes that only read need none.
    func beginChange() throws {
        if hasSavepoint { return }
        try database.run("SAVEPOINT change")
        hasSavepoint = true
    }

    /// The newest version at a key, looked up once.
    func latest(_ key: PathKey, _ lookUp: () throws -> FolderEntry?) rethrows -> FolderEntry? {
        if let entry = lookups.latest[key] { return entry }
        let entry = try lookUp()
        lookups.latest[key] = .some(entry)
        return entry
    }

    /// The version that an entry has now, looked up once.
    func current(_ node: NodeID, _ lookUp: () throws -> FolderEntry?) rethrows -> FolderEntry? {
        if let entry = lookups.current[node] { return entry }
        let entry = try lookUp()
        lookups.current[node] = entry
        return entry
    }

    /// Notes a version just inserted.
    func recorded(_ entry: FolderEntry, replacing previous: FolderEntry?) {
        made.record(entry, replacing: previous)
        lookups.latest[entry.path.key] = entry
        lookups.current[entry.node] = entry
    }

    /// Notes a change of a folder that made versions of it and of all below it, each kind `count` times.
    func recorded(_ change: SubtreeChange, count: Int, usage: UsageChange) {
        made.record(change, count: count, usage: usage)
        lookups = Lookups()
    }

    /// Runs a statement that changes rows, and returns how many.
    @discardableResult
    func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Int {
        try beginChange()
        lookups = Lookups()
        try database.run(sql, arguments)
        return database.changesCount
    }

    /// Sets a text of the table `meta`, or removes it with nil.
    func setMeta(_ name: String, to text: String?) throws {
        if let text {
            try execute("INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)", [name, text])
        } else {
            try execute("DELETE FROM meta WHERE name = ?", [name])
        }
    }

    /// Runs a statement that changes exactly one row.
    ///
    /// - Throws: ``StorageError`` `damaged` when it changes none or several: then the lookups were wrong, and the whole
    ///   transaction is lost.
    func updateRow(_ sql: String, _ arguments: StatementArguments) throws {
        try database.run(sql, arguments)
        let count = database.changesCount
        if count == 1 { return }
        let error = StorageError(.damaged, "a change of one row changed \(count), so nothing was stored")
        failure = error
        throw error
    }

    /// Whether a content is not where it should be.
    func lacks(_ content: StagedContent) throws -> Bool {
        switch content.place {
        case .inline:
            return try !database.hasRow("SELECT 1 FROM content WHERE hash = ?", [content.hash.data])
        case .blob: return !files.has(content.hash, length: content.bytes)
        }
    }

    /// Keeps contents that versions made by this change refer to.
    ///
    /// - Throws: ``StorageError`` `overQuota`, or `full` when the last bytes of the disk are for deletions.
    func store(_ contents: [StagedContent]) throws {
        if contents.isEmpty { return }
        try checkQuota()
        try files.reserve.check()
        for content in contents {
            switch content.place {
            case .inline(let bytes):
                try beginChange()
                try database.run(
                    "INSERT OR IGNORE INTO content(hash, bytes) VALUES (?, ?)", [content.hash.data, Data(bytes)])
            case .blob(let blob):
                try publication.publish(blob, as: content.hash, length: content.bytes)
            }
        }
    }

    /// Makes everything ready for the commit.
    func prepareCommit() throws {
        try UsageLedger(database: database).add(accepted.usage)
        try noteListings()
        try noteCaptionViews()
        try publication.sync()
    }

    /// Notes how the captions that these changes made want their photos to be seen.
    private func noteCaptionViews() throws {
        for entry in accepted.entries
        where !entry.isDeleted && !entry.isFolder && GalleryKind.isCaption(entry.path.name) {
            guard let hash = entry.contentHash?.data,
                let bytes = try database.firstRow("SELECT bytes FROM content WHERE hash = ?", [hash], { $0.bytes(0) }),
                let view = PhotoCaption(note: String(decoding: bytes ?? [], as: UTF8.self)).view
            else { continue }
            try database.run(
                "INSERT OR IGNORE INTO caption_view(hash, view) VALUES (?, ?)", [hash, view.rawValue])
        }
    }

    /// Notes for each folder whose children changed the newest of these changes.
    private func noteListings() throws {
        var newest: [PathKey: Int64] = [:]
        for entry in accepted.entries { newest[entry.path.key.parent ?? .root] = entry.revision }
        for (folder, revision) in newest {
            try database.run(
                """
                INSERT INTO listing(folder, newest) VALUES (?, ?) ON CONFLICT(folder) DO UPDATE
                SET newest = max(newest, excluded.newest)
                """, [folder.sorting, revision])
        }
    }

    private func checkQuota() throws {
        if made.usage == checkedUsage { return }
        try UsageLedger(database: database).check(made.usage, after: accepted.usage, against: settings)
        checkedUsage = made.usage
    }

    /// Undoes what a rollback of the database does not.
    func undo() { publication.undo() }
}
