import ByteClubCore

/// Migrates records from lines of text in `meta`, as in schema version 2, to their tables.
struct RecordMigration {
    /// The schema version that it migrates from.
    static let version: Int64 = 2

    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Migrates all records; invalid ones are dropped, as their readers did.
    func run() throws(SyncError) {
        try move("arriving", Self.pendingInstall)
        try move("parting") { line -> PendingConflictCopy? in
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let item = Int64(parts[0]) else { return nil }
            return PendingConflictCopy(ItemID(item), EntryName(String(parts[1])))
        }
        try move("deselected") { line -> DeselectedFolder? in DeselectedFolder(PathKey(folded: String(line))) }
        try move("approvedDeletions") { line -> ApprovedDeletion? in
            Int64(line).map { ApprovedDeletion(ItemID($0)) }
        }
        try move("ignored") { line -> IgnoredOnDisk.Count? in
            let numbers = line.split(separator: " ").compactMap { Int64($0) }
            guard let folder = numbers.first, let count = numbers.dropFirst().first else { return nil }
            return IgnoredOnDisk.Count(folder: ItemID(folder), count: count)
        }
        try move("obstacle") { line -> ObstacleRecord? in
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let since = Int64(parts[0]) else { return nil }
            return ObstacleRecord(since: since, message: String(parts[1]))
        }
        try move("heldRules") { line -> HeldRulesRecord? in
            let words = line.split(separator: " ")
            guard words.count == 4, let entries = Int(words[1]), let synced = Int(words[2]),
                let since = Int64(words[3])
            else { return nil }
            return HeldRulesRecord(hash: String(words[0]), entries: entries, synced: synced, since: since)
        }
        try moveRules()
        try moveAudit()
        try moveTrash()
        // Waiting items are determined again.
        try setValue("waiting", nil)
    }

    private static func pendingInstall(_ line: Substring) -> PendingInstall? {
        let parts = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, let item = Int64(parts[0]), let parent = Int64(parts[1]),
            let revision = Int64(parts[2]), let hash = ContentHash(String(parts[3]))
        else { return nil }
        return PendingInstall(
            item: ItemID(item), location: Location(ItemID(parent), EntryName(String(parts[4]))), hash: hash,
            revision: revision > 0 ? JournalRevision(number: revision).revision : nil)
    }

    /// The ignore file's hash, then the deselected folders.
    private func moveRules() throws(SyncError) {
        let lines = try lines("rules")
        for line in lines.dropFirst() where !line.isEmpty { try insert(LeftOutFolder(PathKey(folded: String(line)))) }
        try setValue("rules", lines.first.flatMap { $0.isEmpty ? nil : String($0) })
    }

    private func moveAudit() throws(SyncError) {
        var last: String?
        for line in try lines("audit") {
            let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] == "last" { last = Int64(parts[1]).map(String.init) }
            guard parts.count == 6, parts[0] == "found", let item = Int64(parts[1]), let high = UInt64(parts[2]),
                let low = UInt64(parts[3]), let modified = Int64(parts[4])
            else { continue }
            try insert(
                AuditFinding(
                    item: ItemID(item), handle: FileHandle(high: high, low: low), modified: modified,
                    path: String(parts[5])))
        }
        try setValue("audit", last)
    }

    private func moveTrash() throws(SyncError) {
        var count: Int64 = 0
        var dates: [String] = []
        for line in try lines("trash") {
            let parts = line.split(separator: " ")
            switch (parts.first, parts.count) {
            case ("count", 2): count = Int64(parts[1]) ?? 0
            case ("date", 2): dates.append(String(parts[1]))
            case ("day", 3): try insert(TrashLedger.Day(day: String(parts[1]), born: Int64(parts[2]) ?? .max))
            default: continue
            }
        }
        for (index, date) in dates.enumerated() {
            try insert(TrashLedger.SyncDate(number: count - Int64(dates.count - 1 - index), date: date))
        }
        try setValue("trash", nil)
    }

    private func move<Record: StoredRecord>(
        _ name: String, _ record: (Substring) -> Record?
    ) throws(SyncError) {
        for line in try lines(name) where !line.isEmpty { if let record = record(line) { try insert(record) } }
        try setValue(name, nil)
    }

    private func lines(_ name: String) throws(SyncError) -> [Substring] {
        let statement = try connection.prepare("SELECT value FROM meta WHERE name = ?")
        statement.bind(1, name)
        guard try statement.step(), let text = statement.text(0) else { return [] }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    private func insert<Record: StoredRecord>(_ record: Record) throws(SyncError) {
        let placeholders = record.values.map { _ in "?" }.joined(separator: ", ")
        let statement = try connection.prepare(
            "INSERT OR REPLACE INTO \(Record.table.rawValue) VALUES(\(placeholders))")
        for (index, value) in record.values.enumerated() { statement.bind(Int32(index) + 1, value) }
        try statement.run()
    }

    private func setValue(_ name: String, _ value: String?) throws(SyncError) {
        let statement = try connection.prepare(
            value == nil ? "DELETE FROM meta WHERE name = ?" : "INSERT OR REPLACE INTO meta VALUES(?, ?)")
        statement.bind(1, name)
        if let value { statement.bind(2, value) }
        try statement.run()
    }
}
