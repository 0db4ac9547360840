import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite struct RevisionOrderTests {
    @Test("of two revisions one is the later where the server says that they are ordered, and else nobody knows")
    func order() throws {
        let tree = try MachineScene().remoteTree()
        let other = JournalRevision(number: 2, namespace: 2).revision
        let tag = try #require(Revision("\"5e\""))
        #expect(try tree.order(of: .number(3), against: .number(2)) == .later)
        #expect(try tree.order(of: .number(0x9f), against: .number(0x100)) == .earlier)
        #expect(try tree.order(of: .number(2), against: .number(2)) == .same)
        // What is in the tree may be of another server, or not be there.
        for seen in [nil, other, tag] { #expect(try tree.order(of: .number(3), against: seen) == .unknown) }
        #expect(try tree.order(of: nil, against: .number(2)) == .unknown)
        let refusal = #expect(throws: RemoteError.self) { try tree.order(of: tag, against: .number(2)) }
        #expect(refusal?.code == .protocolViolation)
        tree.ordersRevisions = false
        #expect(try tree.order(of: .number(3), against: .number(2)) == .unknown)
        #expect(try tree.order(of: tag, against: .number(2)) == .unknown)
        #expect(try tree.order(of: tag, against: tag) == .same)
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
}
