import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite struct RevisionOrderTests {
    @Test("of two revisions one is the later where the server says that they are ordered, and else nobody knows")
    func order() throws {
        let scene = MachineScene()
        var tree = try scene.remoteTree()
        let other = JournalRevision(number: 2, namespace: 2).revision
        let tag = try #require(Revision("\"5e\""))
        #expect(tree.order(of: .number(3), against: .number(2)) == .later)
        #expect(tree.order(of: .number(0x9f), against: .number(0x100)) == .earlier)
        #expect(tree.order(of: .number(2), against: .number(2)) == .same)
        // What is in the tree may be of another server, or not be there.
        for seen in [nil, other, tag] { #expect(tree.order(of: .number(3), against: seen) == .unknown) }
        #expect(tree.order(of: nil, against: .number(2)) == .unknown)
        #expect(tree.order(of: tag, against: .number(2)) == .unknown)
        tree = try scene.remoteTree(ordersRevisions: false)
        #expect(tree.order(of: .number(3), against: .number(2)) == .unknown)
        #expect(tree.order(of: tag, against: .number(2)) == .unknown)
        #expect(tree.order(of: tag, against: tag) == .same)
    }

    @Test("a write depends on the journal's number, and on nothing that is none")
    func condition() throws {
        var remote = RemoteState(location: Location(.root, EntryName("a")), isFolder: false, revision: .number(7))
        #expect(try remote.requiredNumber() == 7)
        for revision in [nil, Revision("W/\"7\"")] {
            remote.revision = revision
            let refusal = #expect(throws: RemoteError.self) { try remote.requiredNumber() }
            #expect(refusal?.code == .protocolViolation)
        }
    }

    @Test("without an order of revisions both sides agree, and no folder is deleted with what nobody has seen in it")
    func unordered() async throws {
        let scene = MachineScene(usesExtension: false)
        scene.machine.network.ordersRevisions = false
        scene.disk.makeFolder("f")
        for name in ["a", "b", "c", "f/d"] { scene.disk.write(name, "one") }
        try scene.settle()
        scene.disk.write("a", "two")
        scene.disk.move("b", to: "f/b")
        try await scene.put("c", "three")
        try scene.settle()
        scene.disk.delete("a")
        try scene.settle()
        #expect(scene.files == ["c": "three", "f/b": "one", "f/d": "one"])
        #expect(try await scene.stored() == ["c": "three", "f/": "", "f/b": "one", "f/d": "one"])
        for name in ["f/b", "f/d", "f"] { scene.disk.delete(name) }
        for _ in 0..<4 {
            scene.wait()
            try scene.sync()
        }
        #expect(try await scene.stored() == ["c": "three", "f/": "", "f/b": "one", "f/d": "one"])
    }

    @Test("without an order of revisions, a full pass makes no conflict copy of what nobody has edited here")
    func fullPass() async throws {
        let scene = MachineScene(usesExtension: false)
        scene.machine.network.ordersRevisions = false
        for name in ["a", "b"] { scene.disk.write(name, "one") }
        try scene.settle()
        try await scene.put("a", "theirs")
        try await scene.put("b", "theirs")
        scene.disk.write("b", "mine")
        scene.wait()
        scene.machine.database.reopen()
        scene.machine.database.setMeta(.cursor, nil)
        try scene.settle()
        #expect(scene.texts == ["mine", "theirs", "theirs"] && scene.files["a"] == "theirs")
        #expect(try await scene.stored() == scene.files)
    }

    @Test("another's version whose hash is not told is not taken for the one that was sent")
    func withoutHashes() async throws {
        let scene = MachineScene(usesExtension: false)
        (scene.machine.network.ordersRevisions, scene.machine.network.tellsHashes) = (false, false)
        scene.disk.write("a", "one")
        try scene.settle()
        try await scene.put("a", "theirs")
        let (replica, _) = try scene.pathReplica()
        var item = try #require(scene.machine.database.trees.items.first)
        var report = SyncReport()
        let sent = try #require(item.synced?.hash)
        // The feed has told the other's version before the answer to the own one comes.
        let database = scene.machine.database
        let page = try await scene.member.delta(after: database.meta(.cursor), prefix: .root)
        database.setMeta(.cursor, page.cursor)
        item.remote?.hash = nil
        item.remote?.revision = .number(9)
        scene.machine.database.save(item)
        var answer = try await scene.server.metadata(at: RemotePath("/a"))
        (answer.contentHash, answer.rev) = (nil, .number(8))
        let write = OutgoingWrite(
            item: item.id, effect: .content(sent, size: 3), local: item.local, seen: item.synced?.revision)
        try replica.take(write, answer, &report)
        #expect(scene.machine.database.trees.items.first?.remote?.isUnverified == true)
        #expect(report.feedDoubt == .unverified)
        try scene.settle()
        #expect(scene.files == ["a": "theirs"])
        #expect(try await scene.stored() == scene.files)
    }

    @Test("what has to be verified is not written before")
    func unverified() async throws {
        let scene = try MachineScene.synced(["a": "one"], usesExtension: false)
        scene.disk.write("a", "two")
        let (replica, reader) = try scene.pathReplica()
        var item = try #require(scene.machine.database.trees.items.first)
        item.remote?.revision = nil
        item.remote?.isUnverified = true
        scene.machine.database.save(item)
        var report = SyncReport()
        let writes = scene.machine.network.writes
        try await replica.write([PlannedWrite(item: item.id, action: .upload)], reader, &report)
        let remote = try #require(item.remote)
        let text = Array("merged".utf8)
        #expect(try await !replica.writeMerged(text, ContentHasher.hash(text), item, remote, &report))
        #expect(report.feedDoubt == .unverified && scene.machine.network.writes == writes)
    }

    @Test("a large file that both sides change is there in both versions, though the server tells no hashes")
    func largeConflictWithoutHashes() async throws {
        let scene = MachineScene(usesExtension: false)
        (scene.machine.network.ordersRevisions, scene.machine.network.tellsHashes) = (false, false)
        let large = { (line: String) in String(repeating: line, count: TextMerge.limit / 4) }
        scene.disk.write("large", large("first\n"))
        try scene.settle()
        try await scene.put("large", large("theirs\n"))
        scene.disk.write("large", large("mine\n"))
        for _ in 0..<4 {
            scene.wait()
            try scene.sync()
        }
        // The server's is not downloaded without its hash, which is told.
        scene.machine.database.reopen()
        #expect(scene.machine.database.problems().map(\.path) == ["large"])
        #expect(scene.files.count == 1 && scene.files.values.first == large("mine\n"))
        #expect(scene.files.keys.first.map(ConflictName.isCopy) == true)
        let paths = try await scene.server.delta(after: nil, prefix: .root).entries.compactMap(\.metadata?.path.string)
        #expect(paths.count == 2)
    }

    @Test("a large file whose hash is not told is a problem that people see")
    func largeFileWithoutHash() async throws {
        let scene = MachineScene(usesExtension: false)
        (scene.machine.network.ordersRevisions, scene.machine.network.tellsHashes) = (false, false)
        try await scene.put("large", String(repeating: "x", count: 100_000))
        for _ in 0..<4 {
            scene.wait()
            try scene.sync()
        }
        scene.machine.database.reopen()
        #expect(scene.machine.database.problems().map(\.path) == ["large"] && scene.files.isEmpty)
    }
}
