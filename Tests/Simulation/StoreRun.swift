import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubSync

/// A random sequence of calls on a store and on the plainest model of one, which must not differ.
struct StoreRun {
    private var store: any TreeStore
    private var model = PlainStore()
    private var generator: SeededGenerator
    private let reopen: ((any TreeStore) throws -> any TreeStore)?
    private var known: [ItemID] = []

    /// Prepares a run on an empty store; `reopen` closes a store and opens it again.
    init(seed: UInt64, on store: any TreeStore, reopen: ((any TreeStore) throws -> any TreeStore)? = nil) {
        self.store = store
        self.reopen = reopen
        generator = SeededGenerator(seed: seed)
    }

    private struct Refusal: Error {}

    /// Makes so many changes and compares after each transaction.
    mutating func run(steps: Int) throws {
        for _ in 0..<steps {
            switch chance(20) {
            case 0:
                if let reopen { store = try reopen(store) }
            case 1..<4:
                var changed = model
                try change(&changed)
                model = changed
            default:
                var changed = model
                let before = known
                let fails = chance(4) == 0
                do {
                    try store.transaction(durably: chance(8) == 0) {
                        for _ in 0...chance(12) {
                            try change(&changed)
                            if chance(4) == 0 { try compareSome(changed) }
                        }
                        if fails { throw Refusal() }
                    }
                    model = changed
                } catch is Refusal {
                    known = before
                }
            }
            try compareSome(model)
        }
        try compareAll()
        try store.close()
    }

    private mutating func change(_ model: inout PlainStore) throws {
        switch chance(16) {
        case 0:
            let key = pick(MetaKey.allCases.filter { $0 != .isOpen })
            let value = chance(3) == 0 ? nil : pick(["", "1", "ä\n"])
            try store.setMeta(key, value)
            model.meta[key] = value
        case 1:
            let id = pick(known + [.root])
            let listing = chance(3) == 0 || model.items[id] == nil && id != .root ? nil : listing()
            try store.setListing(listing, of: id)
            model.listings[id] = listing
        case 2:
            let path = pick(["a", "a/b", "Ä", "é", "e\u{301}"])
            let problem = ProblemRecord(
                path: path, item: chance(2) == 0 ? nil : pick(known + [ItemID(1)]), message: pick(["x", "y"]),
                isFromScan: chance(2) == 0, nextAttempt: chance(2) == 0 ? nil : 7)
            let new = chance(3) == 0 ? nil : problem
            try store.setProblem(new, path: path)
            model.setProblem(new, path: path)
        case 3...5:
            let id = try store.newItem()
            #expect(!known.contains(id) && id != .root)
            known.append(id)
            try save(id, &model)
        default: try save(pick(known + [ItemID(1)]), &model)
        }
    }

    private mutating func save(_ id: ItemID, _ model: inout PlainStore) throws {
        if !known.contains(id) { return }
        var item = model.items[id] ?? Item(id)
        for _ in 0...chance(3) { alter(&item) }
        // A server never calls two entries the same.
        if let node = item.remote?.node, let other = model.item(node: node), other.id != id { item.remote?.node = nil }
        if let node = item.lastNode, let other = model.item(node: node), other.id != id { item.lastNode = nil }
        if item.remote?.node != nil { item.lastNode = item.remote?.node }
        try store.save(item)
        model.save(item)
    }

    /// An identity: a number, or another text.
    private static func node(_ number: Int64) -> EntryID {
        number % 4 == 0 ? EntryID(text: "id:\(number)") : EntryID(number)
    }

    private mutating func alter(_ item: inout Item) {
        switch chance(12) {
        case 0, 1: item.local = local()
        case 2, 3: item.remote = remote(like: item.local)
        case 4, 5: item.base = synced(like: item.local)
        case 6:
            if let local = item.local {
                item.remote = RemoteState(
                    location: local.location, isFolder: local.isFolder, hash: local.hash, size: local.size,
                    revision: .number(3))
                item.base = SyncedState(
                    location: local.location, isFolder: local.isFolder, hash: local.hash, size: local.size,
                    revision: .number(3))
            }
        case 7: item.local = nil
        case 8: item.remote = nil
        case 9: item.base = nil
        case 10: item.lastNode = chance(2) == 0 ? nil : Self.node(number(40))
        default:
            item.isExcluded = chance(6) == 0
            item.isFrozen = chance(2) == 0
        }
    }

    private mutating func local() -> LocalState {
        var stat: FileStat?
        if chance(4) != 0 {
            stat = FileStat(
                handle: handle(),
                fingerprint: FileFingerprint(
                    device: number(9), inode: number(99), size: number(9), modified: Int64.max - number(9),
                    changed: -number(9)),
                isRacy: chance(2) == 0, isExecutable: pick([nil, true, false]))
        }
        return LocalState(
            location: location(), isFolder: chance(2) == 0, hash: hash(), size: number(1 << 40), stat: stat,
            isLeftover: chance(5) == 0)
    }

    private mutating func handle() -> FileHandle {
        FileHandle(high: pick([0, .max]), low: pick([0, 1, .max, 1 << 63]))
    }

    private mutating func remote(like local: LocalState?) -> RemoteState {
        RemoteState(
            node: chance(2) == 0 ? nil : Self.node(number(40)), location: location(like: local),
            isFolder: chance(2) == 0, hash: chance(2) == 0 ? local?.hash : hash(), size: number(9),
            revision: revision(), placeRevision: number(5), generation: number(4), isUnverified: chance(5) == 0,
            modified: pick([nil, FileTime(nanoseconds: -number(9)), FileTime(nanoseconds: .max)]),
            isExecutable: pick([nil, true, false]))
    }

    private mutating func synced(like local: LocalState?) -> SyncedState {
        SyncedState(
            location: location(like: local), remoteName: chance(3) == 0 ? EntryName(name()) : nil,
            isFolder: chance(2) == 0,
            hash: chance(2) == 0 ? local?.hash : hash(), size: number(9), revision: revision(),
            isExecutable: pick([nil, true, false]))
    }

    /// None, one of a journal that looks like a number, or an ETag.
    private mutating func revision() -> Revision? {
        pick([nil, .number(1), .number(0x5e), .number(number(5)), Revision("12"), Revision("W/\"5e-1\"")])
    }

    private mutating func location(like local: LocalState? = nil) -> Location {
        let name = chance(2) == 0 ? local?.location.name : nil
        return Location(pick(known + [.root, .root]), name ?? EntryName(self.name()))
    }

    private mutating func name() -> String {
        pick(["a", "A", "ä", "Ä", "A\u{308}", "note.md", "", "😀", String(repeating: "x", count: 200), "a\nb", "İ"])
    }

    private mutating func hash() -> ContentHash? { chance(4) == 0 ? nil : ContentHasher.hash([UInt8(chance(4))]) }

    private mutating func listing() -> KnownListing {
        KnownListing(
            high: generator.next(), low: generator.next(),
            folders: (0..<chance(4)).map { ListedFolder(item: ItemID(Int64($0)), name: $0 == 1 ? "ä" : "b") })
    }

    private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
    private mutating func number(_ count: Int64) -> Int64 { Int64.random(in: 0..<count, using: &generator) }
    private mutating func pick<Value>(_ values: [Value]) -> Value { values[chance(values.count)] }

    private mutating func compareSome(_ model: PlainStore) throws {
        let folder = pick(known + [.root])
        let side = chance(2) == 0 ? Side.local : .remote
        try #require(try store.children(of: folder, on: side) == model.children(of: folder, on: side))
        let key = PathKey.fold(name())
        try #require(
            try store.children(of: folder, key: key, on: side) == model.children(of: folder, key: key, on: side))
        let node = Self.node(1 + number(39))
        try #require(try store.item(node: node) == model.item(node: node))
        let handle = handle()
        try #require(try store.items(handle: handle) == model.items(handle: handle))
        let after = chance(2) == 0 ? nil : pick(known + [.root])
        let limit = 1 + chance(5)
        try #require(try store.unsettled(after: after, limit: limit) == model.unsettled(after: after, limit: limit))
        try #require(try store.synced(after: after, limit: limit) == model.synced(after: after, limit: limit))
        let generation = number(5)
        try #require(
            try store.unseen(before: generation, limit: limit) == model.unseen(before: generation, limit: limit))
    }

    private func compareAll() throws {
        for id in known {
            try #require(try store.item(id) == model.items[id])
            try #require(try store.listing(of: id) == model.listings[id])
        }
        try #require(try store.listing(of: .root) == model.listings[.root])
        for key in MetaKey.allCases where key != .isOpen { try #require(try store.meta(key) == model.meta[key]) }
        try #require(try store.problems() == model.problems)
        try #require(try store.syncedCount() == model.items.values.count { $0.synced != nil })
        try #require(
            try store.excludedCount()
                == model.items.values.count { $0.isExcluded && !$0.isOutside && $0.remote != nil })
        try #require(try store.unsettledCount() == model.items.values.count { !$0.isSettled })
    }
}
