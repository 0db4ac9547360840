import ByteClubCore

/// A row of one of the tables that are kept beside the trees.
protocol StoredRecord: Hashable, Sendable {
    static var table: RecordTable { get }
    /// The row's values in the order of the table's columns; the first one is the key.
    var values: [StoredValue] { get }
    /// Reads a row; nil when it is invalid.
    init?(_ values: [StoredValue])
}

/// A value of a row.
enum StoredValue: Hashable, Sendable {
    case null
    case number(Int64)
    case text(String)
    case bytes([UInt8])
    /// The bytes of a hash.
    case hash(ContentHash)

    static func number(_ number: Int64?) -> Self { number.map { .number($0) } ?? .null }
    static func text(_ text: String?) -> Self { text.map { .text($0) } ?? .null }
    static func hash(_ hash: ContentHash?) -> Self { hash.map { .hash($0) } ?? .null }

    var number: Int64? { if case .number(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var hash: ContentHash? {
        switch self {
        case .hash(let hash): hash
        case .bytes(let bytes): ContentHash(bytes: bytes)
        case .null, .number, .text: nil
        }
    }

    /// Equal to the byte: texts that are only composed differently are not.
    static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.number(let left), .number(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.bytes(let left), .bytes(let right)): left == right
        case (.hash(let left), .hash(let right)): left == right
        default: false
        }
    }
}

/// A table of records.
struct RecordTable: Sendable {
    let name: String
    /// The columns as SQLite declares them, the key first.
    let columns: [String]
    /// Further properties of the table as SQLite declares them.
    let options: String

    init(_ name: String, _ columns: String..., options: String = "") {
        (self.name, self.columns, self.options) = (name, columns, options)
    }

    /// The statement that makes the table.
    var definition: String { "CREATE TABLE \(name)(\(columns.joined(separator: ", ")))\(options)" }

    /// All tables.
    static let all = [
        PendingInstall.table, PendingConflictCopy.table, WaitingItem.table, AuditFinding.table, TrashLedger.Day.table,
        TrashLedger.SyncDate.table, DeselectedFolder.table, LeftOutFolder.table, ApprovedDeletion.table,
        IgnoredOnDisk.Count.table, ObstacleRecord.table, HeldRulesRecord.table, DeletionWaveRecord.table,
        SentDeletion.table, ProblemRecord.table, HeldDeletionRecord.table, ConflictRecord.table,
    ]
}

extension TreeStore {
    /// Replaces all records of a kind, writing only those that have changed.
    func replace<Record: StoredRecord>(_ records: [Record]) throws {
        let known = try self.records(Record.self)
        if known == records { return }
        let keys = Set(records.compactMap(\.values.first))
        for old in known {
            if let key = old.values.first, !keys.contains(key) { try removeRecord(Record.self, key) }
        }
        let kept = Set(known)
        for record in records where !kept.contains(record) { try save(record) }
    }

    /// The problems of single paths, in the order of the paths.
    func problems() throws -> [ProblemRecord] { try records(ProblemRecord.self) }

    /// Sets or removes the problem of a path.
    func setProblem(_ problem: ProblemRecord?, path: String) throws {
        if let problem { try save(problem) } else { try removeRecord(ProblemRecord.self, .text(path)) }
    }

    /// The held deletions, in the order of their paths.
    func heldDeletions() throws -> [HeldDeletionRecord] {
        try records(HeldDeletionRecord.self).sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Conflicts, the newest first; with `all`, the resolved ones too.
    func conflicts(all: Bool) throws -> [ConflictRecord] {
        try records(ConflictRecord.self).filter { all || !$0.isResolved }.sorted { $0.at > $1.at }
    }
}

// MARK: - Kinds

extension PendingInstall: StoredRecord {
    static let table = RecordTable(
        "pending_install", "item INTEGER PRIMARY KEY", "parent INT NOT NULL", "name TEXT NOT NULL",
        "hash BLOB NOT NULL", "revision TEXT")
    var values: [StoredValue] {
        [
            .number(item.number), .number(location.parent.number), .text(location.name.text), .hash(hash),
            .text(revision?.description),
        ]
    }
    init?(_ values: [StoredValue]) {
        guard values.count == 5, let item = values[0].number, let parent = values[1].number, let name = values[2].text,
            let hash = values[3].hash
        else { return nil }
        self.init(
            item: ItemID(item), location: Location(ItemID(parent), EntryName(name)), hash: hash,
            revision: values[4].text.flatMap { Revision($0) })
    }
}

extension PendingConflictCopy: StoredRecord {
    static let table = RecordTable("pending_copy", "item INTEGER PRIMARY KEY", "name TEXT NOT NULL")
    var values: [StoredValue] { [.number(item.number), .text(name.text)] }
    init?(_ values: [StoredValue]) {
        guard values.count == 2, let item = values[0].number, let name = values[1].text else { return nil }
        self.init(item: ItemID(item), name: EntryName(name))
    }
}

extension WaitingItem: StoredRecord {
    static let table = RecordTable("waiting", "item INTEGER PRIMARY KEY", "reason TEXT NOT NULL", "number INT")
    var values: [StoredValue] {
        let (word, number): (String, Int64?) =
            switch reason {
            case .underWay(let bytes): ("under-way", bytes)
            case .queued: ("queued", nil)
            case .scheduled: ("scheduled", nil)
            case .written(let until): ("written", until)
            }
        return [.number(item.number), .text(word), .number(number)]
    }
    init?(_ values: [StoredValue]) {
        guard values.count == 3, let item = values[0].number else { return nil }
        switch (values[1].text, values[2].number) {
        case ("under-way", let bytes?): reason = .underWay(bytes: bytes)
        case ("queued", nil): reason = .queued
        case ("scheduled", nil): reason = .scheduled
        case ("written", let until?): reason = .written(until: until)
        default: return nil
        }
        self.item = ItemID(item)
    }
}

extension AuditFinding: StoredRecord {
    static let table = RecordTable(
        "finding", "item INTEGER PRIMARY KEY", "handle_high INT NOT NULL", "handle_low INT NOT NULL",
        "modified INT NOT NULL", "path TEXT NOT NULL")
    var values: [StoredValue] {
        [
            .number(item.number), .number(Int64(bitPattern: handle.high)), .number(Int64(bitPattern: handle.low)),
            .number(modified), .text(path),
        ]
    }
    init?(_ values: [StoredValue]) {
        guard values.count == 5, let item = values[0].number, let high = values[1].number, let low = values[2].number,
            let modified = values[3].number, let path = values[4].text
        else { return nil }
        self.init(
            item: ItemID(item), handle: FileHandle(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low)),
            modified: modified, path: path)
    }
}

extension TrashLedger.Day: StoredRecord {
    static let table = RecordTable("trash_day", "day TEXT PRIMARY KEY NOT NULL", "born INT NOT NULL")
    var values: [StoredValue] { [.text(day), .number(born)] }
    init?(_ values: [StoredValue]) {
        guard values.count == 2, let day = values[0].text, let born = values[1].number else { return nil }
        self.init(day: day, born: born)
    }
}

extension TrashLedger.SyncDate: StoredRecord {
    static let table = RecordTable("sync_date", "number INTEGER PRIMARY KEY", "date TEXT NOT NULL")
    var values: [StoredValue] { [.number(number), .text(date)] }
    init?(_ values: [StoredValue]) {
        guard values.count == 2, let number = values[0].number, let date = values[1].text else { return nil }
        self.init(number: number, date: date)
    }
}

/// A deselected folder, by its key.
struct DeselectedFolder: StoredRecord {
    let key: PathKey
    static let table = RecordTable("deselected", "key TEXT PRIMARY KEY NOT NULL")
    var values: [StoredValue] { [.text(key.string)] }
    init(_ key: PathKey) { self.key = key }
    init?(_ values: [StoredValue]) {
        guard values.count == 1, let key = values[0].text else { return nil }
        self.key = PathKey(folded: key)
    }
}

/// A folder that was deselected when the rules were last applied to the trees, by its key.
struct LeftOutFolder: StoredRecord {
    let key: PathKey
    static let table = RecordTable("left_out", "key TEXT PRIMARY KEY NOT NULL")
    var values: [StoredValue] { [.text(key.string)] }
    init(_ key: PathKey) { self.key = key }
    init?(_ values: [StoredValue]) {
        guard values.count == 1, let key = values[0].text else { return nil }
        self.key = PathKey(folded: key)
    }
}

/// An approved one of the held deletions.
struct ApprovedDeletion: StoredRecord {
    let item: ItemID
    static let table = RecordTable("approved_deletion", "item INTEGER PRIMARY KEY")
    var values: [StoredValue] { [.number(item.number)] }
    init(_ item: ItemID) { self.item = item }
    init?(_ values: [StoredValue]) {
        guard values.count == 1, let item = values[0].number else { return nil }
        self.item = ItemID(item)
    }
}

extension IgnoredOnDisk.Count: StoredRecord {
    static let table = RecordTable("ignored_count", "folder INTEGER PRIMARY KEY", "count INT NOT NULL")
    var values: [StoredValue] { [.number(folder.number), .number(count)] }
    init?(_ values: [StoredValue]) {
        guard values.count == 2, let folder = values[0].number, let count = values[1].number else { return nil }
        self.init(folder: ItemID(folder), count: count)
    }
}

extension ObstacleRecord: StoredRecord {
    static let table = RecordTable("obstacle", "since INTEGER PRIMARY KEY", "message TEXT NOT NULL")
    var values: [StoredValue] { [.number(since), .text(message)] }
    init?(_ values: [StoredValue]) {
        guard values.count == 2, let since = values[0].number, let message = values[1].text else { return nil }
        self.init(since: since, message: message)
    }
}

extension HeldRulesRecord: StoredRecord {
    static let table = RecordTable(
        "held_rules", "hash TEXT PRIMARY KEY NOT NULL", "entries INT NOT NULL", "synced INT NOT NULL",
        "since INT NOT NULL")
    var values: [StoredValue] {
        [.text(hash), .number(Int64(entries)), .number(Int64(synced)), .number(since)]
    }
    init?(_ values: [StoredValue]) {
        guard values.count == 4, let hash = values[0].text, let entries = values[1].number,
            let synced = values[2].number, let since = values[3].number
        else { return nil }
        self.init(hash: hash, entries: Int(clamping: entries), synced: Int(clamping: synced), since: since)
    }
}

extension ProblemRecord: StoredRecord {
    static let table = RecordTable(
        "problem", "path TEXT PRIMARY KEY", "item INT UNIQUE", "message TEXT NOT NULL", "is_from_scan INT NOT NULL",
        "next_attempt INT", options: " WITHOUT ROWID")
    var values: [StoredValue] {
        [.text(path), .number(item?.number), .text(message), .number(isFromScan ? 1 : 0), .number(nextAttempt)]
    }
    init?(_ values: [StoredValue]) {
        guard values.count == 5, let path = values[0].text, let message = values[2].text else { return nil }
        self.init(
            path: path, item: values[1].number.map { ItemID($0) }, message: message, isFromScan: values[3].number != 0,
            nextAttempt: values[4].number)
    }
}

extension HeldDeletionRecord: StoredRecord {
    static let table = RecordTable(
        "held", "item INTEGER PRIMARY KEY", "side INT NOT NULL", "path TEXT NOT NULL", "since INT NOT NULL")
    var values: [StoredValue] { [.number(item.number), .number(Int64(side.rawValue)), .text(path), .number(since)] }
    init?(_ values: [StoredValue]) {
        guard values.count == 4, let item = values[0].number, let path = values[2].text, let since = values[3].number
        else { return nil }
        self.init(
            item: ItemID(item), side: Side(rawValue: Int(values[1].number ?? 0)) ?? .local, path: path, since: since)
    }
}

extension ConflictRecord: StoredRecord {
    static let table = RecordTable(
        "conflict", "copy TEXT PRIMARY KEY", "path TEXT NOT NULL", "winner BLOB NOT NULL", "loser BLOB NOT NULL",
        "at INT NOT NULL", "is_resolved INT NOT NULL", options: " WITHOUT ROWID")
    var values: [StoredValue] {
        // Neither column may be NULL.
        let hashes = [winner, loser].map { $0.map { StoredValue.hash($0) } ?? .bytes([]) }
        return [.text(copy), .text(path)] + hashes + [.number(at), .number(isResolved ? 1 : 0)]
    }
    init?(_ values: [StoredValue]) {
        guard values.count == 6, let copy = values[0].text, let path = values[1].text, let at = values[4].number
        else { return nil }
        self.init(
            path: path, copy: copy, winner: values[2].hash, loser: values[3].hash, at: at,
            isResolved: values[5].number != 0)
    }
}

/// An item that waits or is being transferred without a problem, as stored for status and `why`.
struct WaitingItem: Hashable, Sendable {
    /// Why an item waits.
    enum Reason: Hashable, Sendable {
        /// It is a large file on its way, of which so many bytes are transferred.
        case underWay(bytes: Int64)
        /// It waits for a transfer slot.
        case queued
        /// It waits for the schedule.
        case scheduled
        /// Its file is being written; it is retried then, in seconds since 1970.
        case written(until: Int64)
    }

    let item: ItemID
    let reason: Reason

    init(_ item: ItemID, _ reason: Reason) { (self.item, self.reason) = (item, reason) }
}

/// What prevents a whole mirror from being synced: an unreachable server, a full disk.
struct ObstacleRecord: Hashable, Sendable {
    /// Since when, in seconds since 1970.
    var since: Int64
    /// One line for people.
    var message: String
}

/// For how long syncing is paused.
enum Pause: Hashable, Sendable {
    case until(Int64)
    case forever

    /// Reads a value of ``MetaKey/pausedUntil``; nil when that time has come or it is none.
    init?(_ text: String, now: Int64) {
        if text == "forever" {
            self = .forever
        } else if let time = Int64(text), time > now {
            self = .until(time)
        } else {
            return nil
        }
    }
}

/// A wave of deletions as it is stored.
struct DeletionWaveRecord: StoredRecord {
    /// When its last deletion was planned or done, in seconds since 1970.
    let last: Int64
    /// How many entries were synced when it began.
    let size: Int
    /// How many entries it has deleted.
    let count: Int

    static let table = RecordTable(
        "deletion_wave", "last INTEGER PRIMARY KEY", "size INT NOT NULL", "count INT NOT NULL")
    var values: [StoredValue] { [.number(last), .number(Int64(size)), .number(Int64(count))] }

    init(last: Int64, size: Int, count: Int) { (self.last, self.size, self.count) = (last, size, count) }

    init?(_ values: [StoredValue]) {
        guard values.count == 3, let last = values[0].number, let size = values[1].number, let count = values[2].number
        else { return nil }
        self.init(last: last, size: Int(clamping: size), count: Int(clamping: count))
    }
}

/// An entry that a wave has deleted on the server before the guard held the rest, or was about to.
struct SentDeletion: StoredRecord {
    /// The most that are remembered.
    static let most = 10_000

    let item: ItemID
    /// The server's path, relative to the mirrored folder.
    let path: String
    /// The content's last revision; nil for a folder.
    let revision: Revision?
    /// The content's hash; nil for a folder, and when the server sent none.
    let hash: ContentHash?
    /// Whether it is to be brought back.
    var isWanted = false

    static let table = RecordTable(
        "sent_deletion", "item INTEGER PRIMARY KEY", "path TEXT NOT NULL", "revision TEXT", "hash BLOB",
        "is_wanted INT NOT NULL")
    var values: [StoredValue] {
        [
            .number(item.number), .text(path), .text(revision?.description), .hash(hash), .number(isWanted ? 1 : 0),
        ]
    }

    init(_ item: ItemID, path: String, revision: Revision?, hash: ContentHash?) {
        (self.item, self.path, self.revision, self.hash) = (item, path, revision, hash)
    }

    init?(_ values: [StoredValue]) {
        guard values.count == 5, let item = values[0].number, let path = values[1].text else { return nil }
        self.init(
            ItemID(item), path: path, revision: values[2].text.flatMap { Revision($0) }, hash: values[3].hash)
        isWanted = values[4].number == 1
    }
}
