import ByteClubCore
import FoundationEssentials
import GRDB

/// One transaction of the writer, in which several changes run one after the other.
///
/// It lives on the writer's thread, for the time of the transaction.
final class WriteTransaction {
    /// The writer's connection.
    let database: Database
    /// The number of the last change, those of this transaction included.
    private(set) var lastRevision: Int64
    /// The versions that this transaction made so far.
    private(set) var entries: [FolderEntry] = []
    /// The folders with all below which this transaction changed in one go, at their old places and their new ones.
    private(set) var subtrees: [PathKey] = []
    private let blobs: any BlobStore
    private let reserve: DiskReserve
    /// The large contents that came to their places in this transaction.
    private var publication: any BlobPublication
    /// Why the whole transaction is lost, not only one change; nil while it is not.
    private(set) var failure: (any Error)?
    /// The newest versions that this transaction has looked up or made; nil inside for keys where there is none.
    private var known: [PathKey: FolderEntry?] = [:]
    /// The versions that entries have now, of those that this transaction has looked up or made.
    private var current: [NodeID: FolderEntry] = [:]
    private let settings: HistorySettings
    /// By how much this transaction makes what is live grow.
    private(set) var usage = UsageChange()
    private var usageBefore = UsageChange()
    /// What of it was found to be within the limits.
    private var checkedUsage = UsageChange()
    private var isChanging = false

    /// Starts on a connection whose transaction has begun.
    init(
        database: Database, blobs: any BlobStore, reserve: DiskReserve, settings: HistorySettings
    ) throws {
        self.database = database
        self.settings = settings
        self.blobs = blobs
        self.reserve = reserve
        publication = blobs.publication()
        lastRevision = try SQLiteFolderState.lastRevision(in: database)
    }

    /// Runs one change; when it throws, all that it did is undone and nothing else.
    func change<T>(_ body: () throws -> T) throws -> T {
        let before = (lastRevision, entries.count, subtrees.count)
        usageBefore = usage
        do {
            let result = try body()
            try checkQuota()
            if isChanging { try database.run("RELEASE change") }
            isChanging = false
            return result
        } catch {
            (lastRevision, usage, checkedUsage) = (before.0, usageBefore, usageBefore)
            entries.removeLast(entries.count - before.1)
            subtrees.removeLast(subtrees.count - before.2)
            // What was looked up meanwhile may be there no more, such as what was in a folder's new place.
            (known, current) = ([:], [:])
            rollBackChange(after: error)
            throw error
        }
    }

    private func rollBackChange(after error: any Error) {
        let wasChanging = isChanging
        isChanging = false
        // A full or failing disk ends the whole transaction by itself, also while a change only looks.
        guard database.isInsideTransaction else { return failure = error }
        guard wasChanging else { return }
        do {
            try database.run("ROLLBACK TO change")
            try database.run("RELEASE change")
        } catch {
            failure = error
        }
    }

    /// Marks the place to which a failing change goes back; changes that only look need none.
    func beginChange() throws {
        if isChanging { return }
        try database.run("SAVEPOINT change")
        isChanging = true
    }

    /// The newest version at a key, looked up once.
    func latest(_ key: PathKey, _ lookUp: () throws -> FolderEntry?) rethrows -> FolderEntry? {
        if let entry = known[key] { return entry }
        let entry = try lookUp()
        known[key] = .some(entry)
        return entry
    }

    /// The version that an entry has now, looked up once.
    func current(_ node: NodeID, _ lookUp: () throws -> FolderEntry?) rethrows -> FolderEntry? {
        if let entry = current[node] { return entry }
        let entry = try lookUp()
        current[node] = entry
        return entry
    }

    /// Notes a version just inserted.
    func recorded(_ entry: FolderEntry, replacing previous: FolderEntry?) {
        entries.append(entry)
        known[entry.path.key] = entry
        current[entry.node] = entry
        lastRevision = max(lastRevision, entry.revision)
        usage.record(entry, replacing: previous)
    }

    /// Notes a change of a folder that made versions of it and of all below it, each kind `count` times.
    func recorded(_ change: SubtreeChange, count: Int, usage: UsageChange) {
        (known, current) = ([:], [:])
        if change.leavesTombstones, change.target != nil {
            var gone = change.source.tombstone
            gone.revision = lastRevision + 1
            entries.append(gone)
        }
        entries.append(change.result(count: count - 1, after: lastRevision))
        subtrees += [change.source.path.key, change.target?.path.key].compactMap(\.self)
        lastRevision += Int64(change.target != nil && change.leavesTombstones ? 2 * count : count)
        self.usage.add(usage)
    }

    /// Runs a statement that changes rows, and returns how many.
    @discardableResult
    func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Int {
        try beginChange()
        (known, current) = ([:], [:])
        try database.run(sql, arguments)
        return database.changesCount
    }

    /// Runs a statement that changes exactly one row.
    ///
    /// - Throws: ``StorageError`` `damaged` when it changes none or several: then what was looked up is not what is
    ///   there, and the whole transaction is lost.
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
            let found = try database.firstRow("SELECT 1 FROM content WHERE hash = ?", [content.hash.data]) { _ in true }
            return found == nil
        case .blob: return !blobs.has(content.hash, length: content.bytes)
        }
    }

    /// Keeps contents that versions made by this change refer to.
    ///
    /// - Throws: ``StorageError`` `overQuota`, or `full` when the last bytes of the disk are for deletions.
    func store(_ contents: [StagedContent]) throws {
        if contents.isEmpty { return }
        try checkQuota()
        try reserve.check()
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
        try UsageLedger(database).add(usage)
        try noteListings()
        try noteCaptionViews()
        try publication.sync()
    }

    /// Notes how the captions that these changes made want their photos to be seen.
    private func noteCaptionViews() throws {
        for entry in entries where !entry.isDeleted && !entry.isFolder && GalleryKind.isCaption(entry.path.name) {
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
        for entry in entries { newest[entry.path.key.parent ?? .root] = entry.revision }
        for (folder, revision) in newest {
            try database.run(
                """
                INSERT INTO listing(folder, newest) VALUES (?, ?) ON CONFLICT(folder) DO UPDATE
                SET newest = max(newest, excluded.newest)
                """, [folder.sorting, revision])
        }
    }

    private func checkQuota() throws {
        if usage == checkedUsage { return }
        try UsageLedger(database).check(usage, since: usageBefore, against: settings)
        checkedUsage = usage
    }

    /// Undoes what a rollback of the database does not.
    func undo() { publication.undo() }
}
