import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// A store in memory that forgets, when it crashes, what was not yet durable.
///
/// Its whole state is one value, so that a transaction that throws, and a crash, simply go back to an earlier one.
final class MemoryTreeStore: TreeStore {
    /// Everything that is kept.
    private struct State {
        var trees = MemoryTrees()
        var listings: [ItemID: KnownListing] = [:]
        var meta: [MetaKey: String] = [:]
        /// The rows of each table by its name, in the order of their keys.
        var records: [String: [[StoredValue]]] = [:]
        var kinds: [String: any StoredRecord.Type] = [:]
        var events: [LogRecord] = []
    }

    private static let maximumEvents = 100_000

    private var state = State()
    /// The states a crash may go back to, the oldest being the last durable one.
    private var survivors: [State] = [State()]
    /// Values that go with the next change.
    private var later: [MetaKey: String] = [:]
    private var isInTransaction = false
    private var hasChanged = false
    /// A number that changes with the state.
    private(set) var version = 0
    /// How many transactions have changed something.
    private(set) var commits = 0
    /// How often a slice of what is unsettled was asked for, and how often all that is synced was counted.
    private(set) var (slices, counts) = (0, 0)
    private var isOpen = true

    /// An empty store.
    init() {}

    /// The trees as they are now.
    var trees: MemoryTrees { state.trees }

    /// Loses what was not yet durable: all changes after one moment since the last durable one.
    func crash(using generator: inout SeededGenerator) {
        let last = Int.random(in: 0..<survivors.count, using: &generator)
        state = survivors[last]
        survivors = [state]
        later = [:]
        version += 1
        isInTransaction = false
        isOpen = true
    }

    /// Loses everything.
    func clear() {
        state = State()
        survivors = [state]
        later = [:]
        version += 1
    }

    /// Opens it again as it is, as a process does that follows another.
    func reopen() {
        (isOpen, later) = (true, [:])
        version += 1
    }

    /// Copies everything into an empty database.
    func fill(_ database: SQLiteTreeStore) throws {
        try database.transaction(durably: false) {
            for item in [state.trees[.root]].compactMap(\.self) + state.trees.items { try database.save(item) }
            for (folder, listing) in state.listings { try database.setListing(listing, of: folder) }
            for (key, value) in state.meta { try database.setMeta(key, value) }
            for kind in state.kinds.values { try fill(database, kind) }
            for event in state.events { try database.log(event) }
        }
        database.nextItem = state.trees.numbers.upperBound
        for (key, value) in later { try database.setMetaLater(key, value) }
    }

    private func fill<Record: StoredRecord>(_ database: SQLiteTreeStore, _ kind: Record.Type) throws {
        for record in records(kind) { try database.save(record) }
    }

    func transaction<Result>(durably: Bool, _ body: () throws -> Result) throws -> Result {
        precondition(isOpen, "the store is closed")
        precondition(!isInTransaction, "transactions do not nest")
        let before = (state, later)
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            let result = try body()
            keep(durably: durably)
            return result
        } catch {
            (state, later) = before
            hasChanged = false
            throw error
        }
    }

    /// What is changed outside a transaction is one of its own, which is not durable.
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        precondition(isOpen, "the store is closed")
        let result = body(&state)
        hasChanged = true
        if !isInTransaction { keep(durably: false) }
        return result
    }

    private func keep(durably: Bool) {
        if hasChanged || durably { commits += 1 }
        version += 1
        hasChanged = false
        state.meta.merge(later) { $1 }
        later = [:]
        if durably { survivors.removeAll(keepingCapacity: true) }
        survivors.append(state)
    }

    // MARK: Items

    func item(_ id: ItemID) -> Item? { state.trees[id] }

    func children(of folder: ItemID, on side: Side) -> [Item] { state.trees.children(of: folder, on: side) }

    func children(of folder: ItemID, key: String, on side: Side) -> [Item] {
        state.trees.children(of: folder, key: key, on: side)
    }

    func newItem() -> ItemID { change { $0.trees.newItem() } }

    func save(_ item: Item) {
        change {
            $0.trees[item.id] = item
            if item.isEmpty { $0.listings[item.id] = nil }
        }
    }

    func item(node: EntryID) -> Item? {
        let all = [state.trees[.root]].compactMap { $0 } + state.trees.items
        return all.first { $0.remote?.node == node } ?? all.first { $0.remote?.node == nil && $0.lastNode == node }
    }

    func items(handle: FileHandle) -> [Item] { state.trees.items.filter { $0.local?.stat?.handle == handle } }

    func unsettled(after: ItemID?, limit: Int) -> [Item] {
        slices += 1
        return state.trees.unsettled.lazy.filter { id in after.map { $0 < id } ?? true }.prefix(limit).compactMap {
            self.state.trees[$0]
        }
    }

    func unsettledCount() -> Int { state.trees.unsettled.count }

    func unseen(before generation: Int64, limit: Int) -> [Item] {
        Array(state.trees.items.filter { ($0.remote?.generation ?? .max) < generation }.prefix(limit))
    }

    func synced(after: ItemID?, limit: Int) -> [Item] {
        Array(
            state.trees.items.filter { item in
                item.synced != nil && item.id != .root && after.map { $0 < item.id } ?? true
            }.prefix(limit))
    }

    func syncedCount() -> Int {
        counts += 1
        return state.trees.items.count { $0.synced != nil }
    }

    func excludedCount() -> Int {
        state.trees.items.count { $0.isExcluded && !$0.isOutside && $0.remote != nil }
    }

    func listing(of folder: ItemID) -> KnownListing? { state.listings[folder] }

    func setListing(_ listing: KnownListing?, of folder: ItemID) {
        if state.listings[folder] != listing { change { $0.listings[folder] = listing } }
    }

    // MARK: Beside the trees

    func meta(_ key: MetaKey) -> String? { later[key] ?? state.meta[key] }

    func setMeta(_ key: MetaKey, _ value: String?) {
        later[key] = nil
        if state.meta[key] == value { return }
        change { $0.meta[key] = value }
    }

    func setMetaLater(_ key: MetaKey, _ value: String) { later[key] = value }

    func rest() {
        if later.isEmpty { return }
        hasChanged = true
        keep(durably: false)
    }

    func records<Record: StoredRecord>(_ kind: Record.Type) -> [Record] {
        (state.records[Record.table.name] ?? []).compactMap { Record($0) }
    }

    func save<Record: StoredRecord>(_ record: Record) { change { Self.save(record, in: &$0) } }

    private static func save<Record: StoredRecord>(_ record: Record, in state: inout State) {
        let (values, table) = (record.values, Record.table)
        let unique = table.columns.indices.filter { $0 == 0 || table.columns[$0].hasSuffix("UNIQUE") }
        var rows = state.records[table.name] ?? []
        rows.removeAll { row in unique.contains { row[$0] == values[$0] && row[$0] != .null } }
        rows.insert(values, at: rows.firstIndex { precedes(values.first, $0.first) } ?? rows.count)
        state.records[table.name] = rows
        state.kinds[table.name] = Record.self
    }

    func setAll<Record: StoredRecord>(_ records: [Record]) {
        change { state in
            state.records[Record.table.name] = []
            for record in records { Self.save(record, in: &state) }
        }
    }

    func removeRecord<Record: StoredRecord>(_ kind: Record.Type, _ key: StoredValue) {
        if state.records[Record.table.name]?.contains(where: { $0.first == key }) != true { return }
        change { $0.records[Record.table.name]?.removeAll { $0.first == key } }
    }

    /// The order in which a database has keys of one kind.
    private static func precedes(_ left: StoredValue?, _ right: StoredValue?) -> Bool {
        switch (left, right) {
        case (.number(let left)?, .number(let right)?): left < right
        case (.text(let left)?, .text(let right)?): left.utf8.lexicographicallyPrecedes(right.utf8)
        default: false
        }
    }

    func problems() -> [ProblemRecord] { records(ProblemRecord.self) }

    func heldDeletions() -> [HeldDeletionRecord] {
        records(HeldDeletionRecord.self).sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    func log(_ event: LogRecord) {
        change {
            $0.events.append(event)
            if $0.events.count > Self.maximumEvents { $0.events.removeFirst($0.events.count - Self.maximumEvents) }
        }
    }

    func events(limit: Int, below path: String?) -> [LogRecord] {
        let found = state.events.filter { event in
            guard let path, !path.isEmpty else { return true }
            return event.path == path || event.path.hasPrefix(path + "/")
        }
        return Array(found.suffix(limit))
    }

    func close() {
        rest()
        isOpen = false
    }
}
