import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc
import TestSupport
import Testing

@testable import ByteClubSync

@Suite struct DatabaseFileTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/mirror.sqlite" }
    private let item = Item(ItemID(1), local: LocalState(location: Location(.root, EntryName("a")), isFolder: true))

    init() throws { directory = try TemporaryDirectory() }

    private func fill() throws {
        let store = try SQLiteTreeStore(path: path)
        try store.transaction(durably: true) { try store.save(Item(try store.newItem(), local: item.local)) }
        try store.close()
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, O_RDONLY)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(file.number, &chunk, chunk.count)
            if count <= 0 { break }
            bytes += chunk.prefix(count)
        }
        return bytes
    }

    private func change(_ change: (inout [UInt8]) -> Void) throws {
        var bytes = try bytes(path)
        change(&bytes)
        try FileDescriptor.open(path, O_WRONLY | O_TRUNC).write(bytes)
    }

    private func isThere(_ name: String) -> Bool { unsafe access(directory.path + "/" + name, F_OK) == 0 }

    @Test("what was kept is there when the database is opened again, also beside the engine that has it")
    func reopens() throws {
        try fill()
        let store = try SQLiteTreeStore(path: path)
        #expect(!store.wasUnclean)
        #expect(try store.item(ItemID(1)) == item)
        let reader = try #require(try SQLiteTreeStore.existing(path: path, .reading))
        try store.transaction(durably: true) { try store.setMeta(.cursor, "2") }
        #expect(try reader.meta(.cursor) == "2")
        #expect(throws: SyncError.self) { try reader.setMeta(.cursor, "3") }
        let joined = try #require(try SQLiteTreeStore.existing(path: path, .writingExisting))
        try joined.setMeta(.approvedRules, "1")
        try joined.close()
        #expect(try store.meta(.approvedRules) == "1")
        try reader.close()
        try store.close()
        #expect(!isThere("mirror.sqlite-wal") && !isThere("mirror.sqlite.old"))
    }

    @Test("an engine that did not close its database is noticed, and what it had kept is there")
    func unclean() throws {
        try {
            let lost = try SQLiteTreeStore(path: path)
            try lost.save(Item(try lost.newItem(), local: item.local))
        }()
        let store = try SQLiteTreeStore(path: path)
        #expect(store.wasUnclean)
        #expect(try store.item(ItemID(1)) == item)
        try store.close()
        let again = try SQLiteTreeStore(path: path)
        #expect(!again.wasUnclean)
        try again.close()
    }

    @Test("what a killed engine had kept is there, for those who read and for the next engine")
    func killed() throws {
        let store = try SQLiteTreeStore(path: path)
        try store.save(Item(try store.newItem(), local: item.local))
        // The files as they are now are what a kill leaves.
        let left = directory.path + "/left.sqlite"
        for suffix in ["", "-wal"] {
            try FileDescriptor.open(left + suffix, O_WRONLY | O_CREAT).write(try bytes(path + suffix))
        }
        try store.close()
        let reader = try #require(try SQLiteTreeStore.existing(path: left, .reading))
        #expect(try reader.item(ItemID(1)) == item)
        try reader.close()
        let next = try SQLiteTreeStore(path: left)
        #expect(next.wasUnclean)
        #expect(try next.item(ItemID(1)) == item && next.newItem() == ItemID(2))
        try next.close()
    }

    @Test("a scratch copy changes nothing")
    func scratchCopy() throws {
        let empty = try SQLiteTreeStore.scratchCopy(path: path)
        #expect(try empty.syncedCount() == 0)
        #expect(!isThere("mirror.sqlite"))
        try fill()
        let copy = try SQLiteTreeStore.scratchCopy(path: path)
        #expect(try copy.item(ItemID(1)) == item)
        try copy.transaction(durably: true) { try copy.save(Item(ItemID(1))) }
        try copy.close()
        let store = try SQLiteTreeStore(path: path)
        #expect(try store.item(ItemID(1)) == item)
        try store.close()
    }

    @Test(
        "a database that cannot be used is moved aside, and an empty one started",
        arguments: ["noise", "cut", "newer", "older", "unnamed", "torn page"])
    func movedAside(damage: String) throws {
        try fill()
        switch damage {
        case "noise": try change { $0 = noise(9_000) }
        case "cut": try change { $0.removeLast($0.count / 2) }
        case "newer": try SQLiteConnection(path, .writing).run("PRAGMA user_version = 7")
        case "unnamed": try SQLiteConnection(path, .writing).run("PRAGMA user_version = 3")
        case "older":
            try change { $0 = [] }
            try SQLiteConnection(path, .writing).run(
                "CREATE TABLE node(parent TEXT, name TEXT, PRIMARY KEY(parent, name)); PRAGMA user_version = 1")
        default:
            // The engine ends without closing, with a page lost.
            let lost = try SQLiteConnection(path, .writing)
            try lost.run("INSERT INTO meta VALUES('isOpen', '1'); PRAGMA wal_checkpoint(TRUNCATE)")
            try change { for index in 4_096 * 2..<4_096 * 4 { $0[index] = 0xA5 } }
        }
        #expect(try SQLiteTreeStore.existing(path: path, .reading)?.syncedCount() ?? 0 == 0 || damage == "torn page")
        let store = try SQLiteTreeStore(path: path)
        #expect(try store.item(ItemID(1)) == nil)
        #expect(isThere("mirror.sqlite.old"))
        try store.close()
    }

    @Test("a database of ByteClub 0.2 or 0.3 is made anew, with its selection and its pause", arguments: [4, 5])
    func madeAnew(version: Int) throws {
        try fill()
        do {
            let store = try SQLiteTreeStore(path: path)
            try store.transaction(durably: true) {
                try Selection([PathKey(folded: "/p"), PathKey(folded: "/q/r")]).save(in: store)
                try store.setMeta(.pausedUntil, "forever")
                try store.setMeta(.cursor, "17")
                try store.save(ApprovedDeletion(ItemID(1)))
            }
            try store.close()
            let old = try SQLiteConnection(path, .writing)
            try old.run("ALTER TABLE item DROP COLUMN r_modified; PRAGMA user_version = \(version)")
            if version == 4 { try old.run("DROP TABLE deletion_wave; DROP TABLE sent_deletion") }
            try old.close()
        }
        let refusal = #expect(throws: SyncError.self) { try SQLiteTreeStore.existing(path: path, .reading) }
        #expect(refusal?.message.hasSuffix("is from an older version; the next sync upgrades it") == true)
        let copy = try SQLiteTreeStore.scratchCopy(path: path)
        #expect(try copy.item(ItemID(1)) == nil && Selection(copy).keys.count == 2)
        try copy.close()
        for round in 1...2 {
            let store = try SQLiteTreeStore(path: path)
            #expect(try store.item(ItemID(1)) == (round == 1 ? nil : item) && store.item(.root)?.isSettled == true)
            #expect(try store.records(ApprovedDeletion.self).isEmpty && store.meta(.cursor) == nil)
            #expect(try Selection(store).keys == [PathKey(folded: "/p"), PathKey(folded: "/q/r")])
            #expect(try store.pausedUntil(at: 1) == .max)
            if round == 1 {
                try store.transaction(durably: true) { try store.save(Item(try store.newItem(), local: item.local)) }
            }
            try store.close()
        }
        #expect(!isThere("mirror.sqlite.old"))
    }

    @Test("a database of ByteClub 0.4, whose identities are numbers, opens with all that is in it")
    func numbers() throws {
        let location = Location(.root, EntryName("a"))
        let hash = ContentHasher.hash(Array("x".utf8))
        do {
            let store = try SQLiteTreeStore(path: path)
            try store.transaction(durably: true) {
                try store.save(
                    Item(
                        try store.newItem(), remote: RemoteState(location: location, isFolder: false, hash: hash),
                        synced: SyncedState(location: location, isFolder: false, hash: hash)))
                try store.save(Item(try store.newItem(), synced: SyncedState(location: location, isFolder: false)))
                try Selection([PathKey(folded: "/p")]).save(in: store)
                try store.setMeta(.pausedUntil, "forever")
                try store.setMeta(.rootNode, "5")
            }
            try store.close()
            let old = try SQLiteConnection(path, .writing)
            try old.run("UPDATE item SET r_node = 7, last_node = 7 WHERE id = 1")
            try old.run("UPDATE item SET last_node = 9 WHERE id = 2")
            try old.close()
        }
        for _ in 1...2 {
            let store = try SQLiteTreeStore(path: path)
            let (first, second) = try (store.item(ItemID(1)), store.item(ItemID(2)))
            #expect(first?.remote?.node == EntryID(7) && first?.lastNode == EntryID(7) && first?.synced?.hash == hash)
            #expect(second?.remote == nil && second?.lastNode?.journalNode == NodeID(9))
            #expect(try store.item(node: EntryID(text: "7")) == first && store.item(node: EntryID(9)) == second)
            #expect(try Selection(store).keys == [PathKey(folded: "/p")] && store.pausedUntil(at: 1) == .max)
            if var item = first {
                item.sent = item.sent == nil ? hash : nil
                try store.save(item)
            }
            try store.close()
        }
        // A number stays one, so that an engine of 0.4 or 0.5 still reads it.
        let raw = try SQLiteConnection(path, .reading)
        #expect(try raw.text("SELECT typeof(r_node) || typeof(last_node) FROM item WHERE id = 1") == "integerinteger")
        try raw.close()
    }

    @Test("damage that shows while an engine runs is an error of one line, and the next engine starts anew")
    func damageFoundLate() throws {
        try fill()
        // The third page is the index of folders on disk, of which opening reads nothing.
        try change { for index in 4_096 * 2..<4_096 * 3 { $0[index] = 0xA5 } }
        let damaged = try SQLiteTreeStore(path: path)
        do {
            _ = try damaged.children(of: .root, on: .local)
            Issue.record("a damaged page was read")
        } catch let error as SyncError {
            #expect(error.code == .database && error.message.contains("damaged") && !error.message.contains("\n"))
        }
        try damaged.close()
        #expect(isThere("mirror.sqlite.old"))
        let store = try SQLiteTreeStore(path: path)
        #expect(try store.item(ItemID(1)) == nil)
        try store.close()
    }

    @Test("a full disk is an error that says so, changes nothing, and is over when there is space again")
    func fullDisk() throws {
        let store = try SQLiteTreeStore(path: path)
        try store.connection.run("PRAGMA max_page_count = 40")
        do {
            try store.transaction(durably: true) {
                for number in 0..<10_000 {
                    try store.save(
                        Item(
                            try store.newItem(),
                            local: LocalState(location: Location(.root, EntryName("name \(number)")), isFolder: true)))
                }
            }
            Issue.record("ten thousand items fit into 40 pages")
        } catch let error as SyncError {
            #expect(error.code == .io)
            #expect(error.message.contains("the disk is full") && !error.message.contains("\n"))
        }
        #expect(try store.children(of: .root, on: .local).isEmpty)
        try store.connection.run("PRAGMA max_page_count = 4000")
        try store.save(item)
        #expect(try store.children(of: .root, on: .local) == [item])
        try store.close()
    }

    @Test("a durable commit that changes nothing still writes after one that need not be durable")
    func syncsWhatCameBefore() throws {
        let store = try SQLiteTreeStore(path: path)
        func logged() -> Int {
            var status = stat()
            return unsafe stat(path + "-wal", &status) == 0 ? Int(status.st_size) : 0
        }
        try store.save(item)
        let before = logged()
        try store.transaction(durably: true) {}
        let after = logged()
        #expect(after > before)
        try store.transaction(durably: true) {}
        #expect(logged() == after)
        try store.close()
    }

    @Test("a directory that is not there or not ours is an error of one line")
    func unopenable() {
        #expect(throws: SyncError.self) { try SQLiteTreeStore(path: directory.path + "/none/mirror.sqlite") }
        #expect(throws: SyncError.self) { try SQLiteTreeStore(path: directory.path) }
    }
}
