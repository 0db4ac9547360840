import ByteClubCore
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
        let reader = try #require(try SQLiteTreeStore.reading(path: path))
        try store.transaction(durably: true) { try store.setMeta(.cursor, "2") }
        #expect(try reader.meta(.cursor) == "2")
        #expect(throws: SyncError.self) { try reader.setMeta(.cursor, "3") }
        let joined = try #require(try SQLiteTreeStore.joining(path: path))
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
        let reader = try #require(try SQLiteTreeStore.reading(path: left))
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
        arguments: ["noise", "cut", "newer", "older", "torn page"])
    func movedAside(damage: String) throws {
        try fill()
        switch damage {
        case "noise": try change { $0 = noise(9_000) }
        case "cut": try change { $0.removeLast($0.count / 2) }
        case "newer": try SQLiteConnection(path, .writing).run("PRAGMA user_version = 7")
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
        #expect(try SQLiteTreeStore.reading(path: path)?.syncedCount() ?? 0 == 0 || damage == "torn page")
        let store = try SQLiteTreeStore(path: path)
        #expect(try store.item(ItemID(1)) == nil)
        #expect(isThere("mirror.sqlite.old"))
        try store.close()
    }

    @Test("a database of version 4 gets the tables that it lacks, and keeps what it knew")
    func migratedFromVersionBefore() throws {
        try fill()
        do {
            let old = try SQLiteConnection(path, .writing)
            try old.run(
                """
                DROP TABLE deletion_wave; DROP TABLE sent_deletion; ALTER TABLE item DROP COLUMN r_modified;
                PRAGMA user_version = 4
                """)
            try old.close()
        }
        let refusal = #expect(throws: SyncError.self) { try SQLiteTreeStore.reading(path: path) }
        #expect(refusal?.message.hasSuffix("is from an older version; the next sync upgrades it") == true)
        let sent = SentDeletion(
            ItemID(5), path: "a b", revision: .number(3), hash: ContentHasher.hash(Array("x".utf8)))
        for round in 1...2 {
            let store = try SQLiteTreeStore(path: path)
            #expect(try store.item(ItemID(1)) == item)
            #expect(try store.records(SentDeletion.self) == (round == 1 ? [] : [sent]))
            let wave = DeletionWave(size: 9, count: 2, last: SyncInstant(sinceStart: .zero))
            if round == 1 {
                try store.save(wave, seconds: 7)
                try store.transaction(durably: true) { try store.save(sent) }
            }
            #expect(try store.wave(at: SyncInstant(sinceStart: .zero), seconds: 7) == wave)
            try store.close()
        }
        #expect(!isThere("mirror.sqlite.old"))
    }

    @Test("a database of version 5 keeps what it knew, and lists all folders once more")
    func migratedFromBeforeTimes() throws {
        try fill()
        do {
            let store = try SQLiteTreeStore(path: path)
            try store.setListing(KnownListing(high: 1, low: 2, folders: []), of: ItemID(1))
            try store.close()
            let old = try SQLiteConnection(path, .writing)
            try old.run("ALTER TABLE item DROP COLUMN r_modified; PRAGMA user_version = 5")
            try old.close()
        }
        let location = Location(.root, EntryName("b"))
        let remote = RemoteState(
            location: location, isFolder: false, modified: FileTime(nanoseconds: -1), isExecutable: true)
        for round in 1...2 {
            let store = try SQLiteTreeStore(path: path)
            #expect(try store.item(ItemID(1)) == item && store.listing(of: ItemID(1)) == nil)
            if round == 1 {
                try store.transaction(durably: true) { try store.save(Item(try store.newItem(), remote: remote)) }
            }
            #expect(try store.item(ItemID(2))?.remote == remote)
            try store.close()
        }
        #expect(!isThere("mirror.sqlite.old"))
    }

    @Test("a database of version 2 is brought to this one once, with all that it knew")
    func migrated() throws {
        try fill()
        let hash = ContentHasher.hash(Array("x".utf8))
        do {
            let old = try SQLiteConnection(path, .writing)
            for table in RecordTable.allCases { try old.run("DROP TABLE \(table.rawValue)") }
            let values = [
                "arriving": "7 0 3 \(hash) a b.txt", "parting": "8 c (conflict).txt", "deselected": "/p\n/q/r",
                "approvedDeletions": "3\n9", "ignored": "0 2\n5 1", "obstacle": "60 the disk is full",
                "heldRules": "abc 5 6 7", "rules": "def\n/p",
                "audit": "last 4\nfound 9 1 18446744073709551615 -3 a b/c d",
                "trash": "count 3\ndate 2026-01-01\ndate 2026-01-02\nday 2026-01-02 2", "waiting": "4 queued",
                "cursor": "17",
            ]
            for (name, text) in values { try old.run("INSERT INTO meta VALUES('\(name)', '\(text)')") }
            try old.run("PRAGMA user_version = 2")
            try old.close()
            try declareNumbers()
        }
        let refusal = #expect(throws: SyncError.self) { try SQLiteTreeStore.reading(path: path) }
        #expect(refusal?.message.hasSuffix("is from an older version; the next sync upgrades it") == true)
        let copy = try SQLiteTreeStore.scratchCopy(path: path)
        #expect(try copy.item(ItemID(1)) == item && copy.records(ApprovedDeletion.self).map(\.item.number) == [3, 9])
        try copy.close()
        for _ in 1...2 {
            let store = try SQLiteTreeStore(path: path)
            #expect(try store.item(ItemID(1)) == item && store.meta(.cursor) == "17")
            let install = PendingInstall(
                item: ItemID(7), location: Location(.root, EntryName("a b.txt")), hash: hash,
                revision: .number(3))
            #expect(try store.records(PendingInstall.self) == [install])
            let copy = PendingConflictCopy(ItemID(8), EntryName("c (conflict).txt"))
            #expect(try store.records(PendingConflictCopy.self) == [copy])
            #expect(try Selection(store).keys == [PathKey(folded: "/p"), PathKey(folded: "/q/r")])
            #expect(try store.records(ApprovedDeletion.self).map(\.item.number) == [3, 9])
            #expect(try store.records(IgnoredOnDisk.Count.self).map(\.count) == [2, 1])
            #expect(try store.records(ObstacleRecord.self) == [ObstacleRecord(since: 60, message: "the disk is full")])
            #expect(
                try store.records(HeldRulesRecord.self) == [
                    HeldRulesRecord(hash: "abc", entries: 5, synced: 6, since: 7)
                ])
            #expect(try store.meta(.rules) == "def" && store.records(LeftOutFolder.self).map(\.key.string) == ["/p"])
            let finding = AuditFinding(
                item: ItemID(9), handle: FileHandle(high: 1, low: .max), modified: -3, path: "a b/c d")
            #expect(try store.meta(.audit) == "4" && store.records(AuditFinding.self) == [finding])
            let ledger = try TrashLedger(store)
            #expect(ledger.count == 3 && ledger.dates.map(\.number) == [2, 3] && ledger.days.map(\.born) == [2])
            #expect(try store.records(WaitingItem.self).isEmpty)
            try store.close()
        }
        #expect(!isThere("mirror.sqlite.old"))
        #expect(try SQLiteTreeStore.reading(path: path)?.meta(.cursor) == "17")
    }

    /// Declares revisions as numbers, as earlier versions did.
    private func declareNumbers() throws {
        let old = try SQLiteConnection(path, .writing)
        try old.run(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'revision TEXT', 'revision INT');
            PRAGMA writable_schema = OFF
            """)
        try old.close()
    }

    @Test("revisions that were numbers are the server's texts for them, also those that look like another number")
    func renumbered() throws {
        /// What a file's revisions were on the server and when it was synced, and what they are.
        let rows: [(server: Int64, synced: Int64, now: (server: Revision?, synced: Revision?))] = [
            (7, 7, (.number(7), .number(7))), (0x5e, 0x12, (.number(0x5e), .number(0x12))),
            (1 << 40, 0, (.number(1 << 40), nil)), (0, 3, (nil, .number(3))), (0, 0, (nil, nil)),
            (-1, 3, (nil, .number(3))),
        ]
        let hash = ContentHasher.hash(Array("x".utf8))
        do {
            let store = try SQLiteTreeStore(path: path)
            for number in rows.indices {
                let location = Location(.root, EntryName("\(number)"))
                try store.save(
                    Item(
                        try store.newItem(),
                        remote: RemoteState(location: location, isFolder: false, hash: hash),
                        synced: SyncedState(location: location, isFolder: false, hash: hash)))
            }
            try store.save(
                PendingInstall(item: ItemID(1), location: .init(.root, EntryName("0")), hash: hash, revision: nil))
            try store.close()
            try declareNumbers()
            let old = try SQLiteConnection(path, .writing)
            for (index, row) in rows.enumerated() {
                try old.run(
                    "UPDATE item SET r_revision = \(row.server), s_revision = \(row.synced) WHERE id = \(index + 1)")
            }
            try old.run(
                "UPDATE pending_install SET revision = 94; DROP TABLE deletion_wave; DROP TABLE sent_deletion; PRAGMA user_version = 3"
            )
            try old.close()
        }
        for _ in 1...2 {
            let store = try SQLiteTreeStore(path: path)
            for (index, row) in rows.enumerated() {
                let item = try #require(try store.item(ItemID(Int64(index) + 1)))
                #expect(item.remote?.revision == row.now.server && item.synced?.revision == row.now.synced, "\(row)")
                #expect(item.remote?.isUnverified == (row.server == -1) && item.remote?.hash == hash, "\(row)")
            }
            #expect(try store.children(of: .root, on: .remote).count == rows.count)
            #expect(try store.records(PendingInstall.self).map(\.revision) == [.number(0x5e)])
            try store.close()
        }
        #expect(!isThere("mirror.sqlite.old"))
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
