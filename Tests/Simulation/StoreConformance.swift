import ByteClubCore
import Testing

@testable import ByteClubSync

/// One claim about what every store of trees does, as a test that any store can run.
struct StoreConformance: Sendable, CustomStringConvertible {
    /// The claim, a sentence.
    let description: String
    /// Puts an empty store to the test.
    let check: @Sendable (any TreeStore) throws -> Void

    init(_ claim: String, _ check: @escaping @Sendable (any TreeStore) throws -> Void) {
        description = claim
        self.check = check
    }

    static let all = items + records

    private static let items = [
        StoreConformance("the root is there on both sides, settled, in no folder, and counts for nothing") { store in
            let root = try #require(try store.item(.root))
            #expect(root.local?.isFolder == true && root.remote?.isFolder == true && root.isSettled)
            #expect(try store.children(of: .root, on: .local).isEmpty && store.children(of: .root, on: .remote).isEmpty)
            #expect(try store.children(of: .root, key: "", on: .remote).isEmpty)
            #expect(try store.syncedCount() == 0 && store.unsettledCount() == 0)
            #expect(try store.unsettled(after: nil, limit: 10).isEmpty && store.unseen(before: 9, limit: 9).isEmpty)
            var named = root
            named.remote?.node = EntryID(4)
            try store.save(named)
            #expect(try store.item(.root) == named && store.item(node: EntryID(4)) == named)
            #expect(try store.syncedCount() == 0 && store.unsettledCount() == 0)
        },
        StoreConformance("the number of an item is given once, whatever becomes of it") { store in
            var given: Set<ItemID> = [.root]
            for _ in 0..<20 {
                let id = try store.newItem()
                #expect(given.insert(id).inserted)
                try store.save(folder(id, "a"))
                try store.save(Item(id))
                try store.transaction(durably: false) {
                    let first = try store.newItem()
                    let second = try store.newItem()
                    #expect(given.insert(first).inserted && given.insert(second).inserted)
                    try store.save(folder(second, "b"))
                }
            }
        },
        StoreConformance("a transaction that throws has changed nothing") { store in
            let id = try store.newItem()
            let item = folder(id, "a")
            try store.save(item)
            try store.setMeta(.cursor, "1")
            #expect(throws: Refusal.self) {
                try store.transaction(durably: true) {
                    try store.save(folder(id, "b"))
                    try store.save(folder(try store.newItem(), "c"))
                    try store.setMeta(.cursor, nil)
                    try store.log(LogRecord(at: 1, path: "a", event: "upload"))
                    #expect(try store.item(id)?.local?.location.name == EntryName("b"))
                    throw Refusal()
                }
            }
            #expect(try store.item(id) == item)
            #expect(try store.meta(.cursor) == "1")
            #expect(try store.children(of: .root, on: .local) == [item])
            #expect(try store.events(limit: 9, below: nil).isEmpty)
        },
        StoreConformance("records are kept one by one or all at once, in the order of their keys") { store in
            for number in [9, 3, 12] { try store.save(ApprovedDeletion(ItemID(Int64(number)))) }
            try store.save(ObstacleRecord(since: 5, message: "it's\n'so'"))
            try store.save(ObstacleRecord(since: 5, message: "another"))
            #expect(try store.records(ApprovedDeletion.self).map(\.item.number) == [3, 9, 12])
            #expect(try store.records(ObstacleRecord.self) == [ObstacleRecord(since: 5, message: "another")])
            try store.removeRecord(ApprovedDeletion.self, .number(9))
            try store.removeRecord(ApprovedDeletion.self, .number(10))
            #expect(try store.records(ApprovedDeletion.self).map(\.item.number) == [3, 12])
            let folders = ["/é", "/b", "/a/c"].map { DeselectedFolder(PathKey(folded: $0)) }
            try store.transaction(durably: true) { try store.replace(folders) }
            #expect(try store.records(DeselectedFolder.self).map(\.key.string) == ["/a/c", "/b", "/é"])
            #expect(throws: Refusal.self) {
                try store.transaction(durably: true) {
                    try store.replace([ApprovedDeletion(ItemID(4))])
                    throw Refusal()
                }
            }
            #expect(try store.records(ApprovedDeletion.self).map(\.item.number) == [3, 12])
        },
        StoreConformance("a value that is kept later is told at once, and a newer one takes its place") { store in
            try store.setMeta(.cursor, "1")
            try store.setMetaLater(.cursor, "2")
            try store.setMetaLater(.lastSync, "7")
            #expect(try store.meta(.cursor) == "2" && store.meta(.lastSync) == "7")
            try store.transaction(durably: false) { try store.setMeta(.cursor, "3") }
            #expect(try store.meta(.cursor) == "3" && store.meta(.lastSync) == "7")
            try store.setMetaLater(.lastSync, "8")
            try store.rest()
            #expect(try store.meta(.cursor) == "3" && store.meta(.lastSync) == "8")
            #expect(throws: Refusal.self) {
                try store.transaction(durably: true) {
                    try store.setMetaLater(.cursor, "4")
                    throw Refusal()
                }
            }
            #expect(try store.meta(.cursor) == "3", "what a transaction keeps for later goes with it")
        },
        StoreConformance("a disk may have several names under one key, and each is found by it") { store in
            let names = ["Ä", "ä", "A\u{308}", "a", "A", "b"]
            for name in names { try store.save(folder(try store.newItem(), name)) }
            let found = { (key: String) in
                try store.children(of: .root, key: key, on: .local).compactMap { $0.local?.location.name.text }
            }
            #expect(try found("ä").map { Array($0.utf8) } == ["Ä", "ä", "A\u{308}"].map { Array($0.utf8) })
            #expect(try found("a") == ["a", "A"])
            #expect(try found("A").isEmpty, "the key is folded by who asks")
        },
        StoreConformance("an entry is found by what the server calls it, also when it is deleted there") { store in
            var item = folder(try store.newItem(), "a")
            item.remote = RemoteState(node: EntryID(7), location: Location(.root, EntryName("a")), isFolder: true)
            item.lastNode = EntryID(7)
            try store.save(item)
            #expect(try store.item(node: EntryID(7)) == item)
            item.remote = nil
            try store.save(item)
            #expect(try store.item(node: EntryID(7)) == item)
            #expect(try store.item(node: EntryID(8)) == nil)
            try store.save(Item(item.id))
            #expect(try store.item(node: EntryID(7)) == nil)
        },
        StoreConformance("what the server calls an entry is any text, and no other is taken for it") { store in
            let texts = ["7", "07", "+7", "7.0", "5e3", "5000", "-0", "0", "", "id:aÄ", "id:aA\u{308}", "id:AÄ"]
            let ids = texts.map { EntryID(text: $0) }
            for (number, id) in ids.enumerated() {
                let location = Location(.root, EntryName("n\(number)"))
                try store.save(
                    Item(try store.newItem(), remote: RemoteState(node: id, location: location, isFolder: true)))
            }
            for (number, id) in ids.enumerated() {
                let item = try #require(try store.item(node: id), "\(id)")
                #expect(item.remote?.node == id && item.remote?.location.name.text == "n\(number)")
            }
            #expect(try store.item(node: EntryID(text: "7 ")) == nil)
        },
        StoreConformance("hard links are found as the one file that they are") { store in
            let stat = FileStat(
                handle: FileHandle(high: 1, low: .max),
                fingerprint: FileFingerprint(device: 1, inode: 2, size: 3, modified: 4, changed: 5))
            var links: [Item] = []
            for name in ["b", "a"] {
                let location = Location(.root, EntryName(name))
                links.append(
                    Item(try store.newItem(), local: LocalState(location: location, isFolder: false, stat: stat)))
            }
            for item in links.reversed() { try store.save(item) }
            #expect(try store.items(handle: stat.handle) == links)
            #expect(try store.items(handle: FileHandle(high: 0, low: .max)).isEmpty)
            try store.save(Item(links[0].id))
            #expect(try store.items(handle: stat.handle) == [links[1]])
        },
        StoreConformance("unsettled and unseen items come in pieces, in the order of their identities") { store in
            var ids: [ItemID] = []
            try store.transaction(durably: false) {
                for number in 0..<50 {
                    var item = Item(try store.newItem())
                    item.remote = RemoteState(
                        node: nil, location: Location(.root, EntryName("n\(number)")), isFolder: true,
                        generation: Int64(number % 3))
                    try store.save(item)
                    ids.append(item.id)
                }
            }
            var found: [ItemID] = []
            while true {
                let piece = try store.unsettled(after: found.last, limit: 7)
                #expect(piece.count <= 7)
                if piece.isEmpty { break }
                found += piece.map(\.id)
            }
            #expect(found == ids)
            #expect(try store.unsettledCount() == 50)
            var old = try store.unseen(before: 2, limit: 5)
            #expect(old.map(\.id) == Array([0, 1, 3, 4, 6].map { ids[$0] }))
            var count = 0
            while let item = old.first {
                try store.save(Item(item.id))
                count += 1
                old = try store.unseen(before: 2, limit: 5)
            }
            #expect(count == 34)
            var again = Item(ids[0])
            again.remote = RemoteState(
                node: nil, location: Location(.root, EntryName("x")), isFolder: true, generation: 1)
            try store.save(again)
            #expect(try store.unseen(before: 2, limit: 5) == [again], "what is saved after the search is found as well")
        },
        StoreConformance("a known listing is kept until it is invalidated or its folder is forgotten") { store in
            let id = try store.newItem()
            try store.save(folder(id, "a"))
            let listing = KnownListing(
                high: .max, low: 1,
                folders: [ListedFolder(item: ItemID(4), name: "é"), ListedFolder(item: ItemID(5), name: "")])
            #expect(try store.listing(of: id) == nil)
            try store.setListing(listing, of: id)
            #expect(try store.listing(of: id) == listing)
            try store.setListing(nil, of: id)
            #expect(try store.listing(of: id) == nil)
            try store.setListing(listing, of: id)
            try store.setListing(listing, of: .root)
            try store.save(Item(id))
            #expect(try store.listing(of: id) == nil)
            #expect(try store.listing(of: .root) == listing)
        },
    ]

    private static let records = [
        StoreConformance("a problem replaces what was wrong with its path or its item") { store in
            let problem = { (path: String, item: Int64?, message: String) in
                ProblemRecord(
                    path: path, item: item.map { ItemID($0) }, message: message, isFromScan: true, nextAttempt: 5)
            }
            try store.setProblem(problem("b", 1, "x"), path: "b")
            try store.setProblem(problem("a", nil, "y"), path: "a")
            try store.setProblem(problem("c", nil, "y"), path: "c")
            try store.setProblem(problem("b", 1, "z"), path: "b")
            #expect(try store.problems() == [problem("a", nil, "y"), problem("b", 1, "z"), problem("c", nil, "y")])
            try store.setProblem(problem("d", 1, "w"), path: "d")
            #expect(try store.problems().map(\.path) == ["a", "c", "d"])
            try store.setProblem(nil, path: "a")
            #expect(try store.problems().map(\.path) == ["c", "d"])
        },
        StoreConformance("the problems below a path are its own and those of what is in it, by bytes") { store in
            for path in ["f", "f/a", "f/g/b", "f.md", "f0", "e\u{301}/x", "\u{E9}/x", "F/c", "f/z\u{10FFFF}"] {
                try store.setProblem(
                    ProblemRecord(path: path, item: nil, message: "m", isFromScan: true), path: path)
            }
            let below = { (path: String) in try store.problems(below: path).map { Array($0.path.utf8) } }
            #expect(try below("f") == ["f", "f/a", "f/g/b", "f/z\u{10FFFF}"].map { Array($0.utf8) })
            #expect(try below("\u{E9}") == [Array("\u{E9}/x".utf8)])
            #expect(try below("f/g") == [Array("f/g/b".utf8)] && below("g").isEmpty)
        },
        StoreConformance("held deletions are replaced as a whole") { store in
            let held = (1...3).map {
                HeldDeletionRecord(item: ItemID($0), side: $0 == 2 ? .local : .remote, path: "p\($0)", since: 9)
            }
            try store.setAll(held)
            #expect(try store.heldDeletions() == held)
            try store.setAll([held[1]])
            #expect(try store.heldDeletions() == [held[1]])
        },
        StoreConformance("conflicts come the newest first, until they are resolved") { store in
            let conflict = { (copy: String, at: Int64) in
                ConflictRecord(path: "a", copy: copy, winner: nil, loser: ContentHasher.hash([1]), at: at)
            }
            try store.save(conflict("b", 1))
            try store.save(conflict("c", 2))
            try store.save(conflict("b", 3))
            #expect(try store.conflicts(all: false) == [conflict("b", 3), conflict("c", 2)])
            var resolved = conflict("b", 3)
            resolved.isResolved = true
            try store.save(resolved)
            #expect(try store.conflicts(all: false) == [conflict("c", 2)])
            #expect(try store.conflicts(all: true).map(\.isResolved) == [true, false])
        },
        StoreConformance("the log tells of a path and of what is below it, the newest last") { store in
            for (number, path) in ["a", "a/b", "ab", "a", "a/b/c", ""].enumerated() {
                try store.log(LogRecord(at: Int64(number), path: path, event: "upload", rule: nil, detail: "d"))
            }
            #expect(try store.events(limit: 9, below: "a").map(\.at) == [0, 1, 3, 4])
            #expect(try store.events(limit: 2, below: "a").map(\.at) == [3, 4])
            #expect(try store.events(limit: 9, below: "a/b").map(\.at) == [1, 4])
            #expect(try store.events(limit: 9, below: nil).map(\.at) == [0, 1, 2, 3, 4, 5])
            #expect(try store.events(limit: 9, below: "").count == 6, "everything is below the root")
            #expect(try store.events(limit: 9, below: "_").isEmpty)
            #expect(try store.events(limit: 0, below: nil).isEmpty)
        },
        StoreConformance("the log keeps the last hundred thousand events") { store in
            try store.transaction(durably: false) {
                for number in 0..<100_500 { try store.log(LogRecord(at: Int64(number), path: "p", event: "upload")) }
            }
            let events = try store.events(limit: 1_000_000, below: nil)
            #expect(events.count == 100_000)
            #expect(events.first?.at == 500 && events.last?.at == 100_499)
        },
    ]

    private static func folder(_ id: ItemID, _ name: String) -> Item {
        Item(id, local: LocalState(location: Location(.root, EntryName(name)), isFolder: true))
    }

    private struct Refusal: Error {}
}
