import ByteClubCore
import Glibc
import TestSupport
import Testing

@testable import ByteClubSync

@Suite struct DecisionTests {
    private let mirror: MirrorFixture

    init() throws { mirror = try MirrorFixture() }

    @Test("approving names the held deletions to the engine, beside those approved before")
    func approve() throws {
        let gone = try mirror.add("a", server: "x", synced: "x")
        try mirror.store.setAll([HeldDeletionRecord(item: gone.id, side: .remote, path: "a", since: 5)])
        try mirror.store.save(ApprovedDeletion(ItemID(99)))
        #expect(try SyncEngine.approveDeletions(of: mirror.configuration).map(\.path) == ["a"])
        #expect(try mirror.store.records(ApprovedDeletion.self).map(\.item) == [gone.id, ItemID(99)])
    }

    @Test("restoring brings back what is gone on either side, with all that is in it")
    func restore() throws {
        let folder = try mirror.add("F", server: "", synced: "", isFolder: true)
        let inside = try mirror.add("a", in: folder.id, server: "x", synced: "x")
        let other = try mirror.add("b", disk: "y", synced: "y") { $0.lastNode = EntryID(9) }
        let untouched = try mirror.add("c", disk: "z", server: "z", synced: "z")
        try mirror.store.setAll([
            HeldDeletionRecord(item: folder.id, side: .remote, path: "F", since: 5),
            HeldDeletionRecord(item: other.id, side: .local, path: "b", since: 5),
        ])
        #expect(
            try Planner.plan([folder.id, inside.id, other.id], in: mirror.store).operations.allSatisfy(\.isDeletion))
        #expect(try SyncEngine.restoreDeletions(of: mirror.configuration).count == 2)
        #expect(try mirror.store.heldDeletions().isEmpty)
        let plan = try Planner.plan([folder.id, inside.id, other.id, untouched.id], in: mirror.store)
        #expect(
            plan.operations == [
                .disk(folder.id, .makeFolder(Location(.root, EntryName("F")))),
                .disk(inside.id, .download(Location(folder.id, EntryName("a")))), .server(other.id, .upload),
            ])
    }

    private func conflict() throws -> SyncStatus.Conflict {
        try mirror.write("theirs", to: "a.md")
        try mirror.write("mine", to: "a (conflict 1).md")
        try mirror.store.save(
            ConflictRecord(path: "a.md", copy: "a (conflict 1).md", winner: nil, loser: nil, at: 5))
        return try #require(try SyncEngine.conflicts(of: mirror.configuration, all: false).first)
    }

    private func trashed() throws -> [String] {
        let root = try LinuxDisk(mirror.configuration.directory).openRoot()
        guard try root.entry(".byteclub") != nil else { return [] }
        let trash = try root.folder(".byteclub").folder("trash")
        let day = try #require(try trash.list().first).name
        return try trash.folder(day).list().map(\.name).sorted()
    }

    @Test("a settled conflict keeps what was chosen, and the rest is in the trash", arguments: ConflictSide.allCases)
    func resolve(side: ConflictSide) throws {
        let conflict = try conflict()
        try SyncEngine.resolve(conflict, keeping: side, of: mirror.configuration)
        #expect(try mirror.text("a.md") == (side == .mine ? "mine" : "theirs"))
        #expect(try mirror.text("a (conflict 1).md") == (side == .both ? "mine" : nil))
        switch side {
        case .both: #expect(try trashed().isEmpty)
        case .mine: #expect(try trashed() == ["a (conflict 1).md", "a.md"])
        case .theirs: #expect(try trashed() == ["a (conflict 1).md"])
        }
        #expect(try SyncEngine.conflicts(of: mirror.configuration, all: false).isEmpty)
        #expect(try SyncEngine.conflicts(of: mirror.configuration, all: true).map(\.isResolved) == [true])
    }

    @Test("keeping mine leaves the entry what it is: another file of the same name, as an editor saves it")
    func staysTheEntry() throws {
        let conflict = try conflict()
        let root = try LinuxDisk(mirror.configuration.directory).openRoot()
        let (old, copy) = (try root.entry("a.md")?.stat.handle, try root.entry("a (conflict 1).md")?.stat.handle)
        try SyncEngine.resolve(conflict, keeping: .mine, of: mirror.configuration)
        let new = try root.entry("a.md")?.stat.handle
        #expect(new != nil && new != old && new != copy)
    }

    @Test("a copy that is gone cannot be kept, and nothing is touched")
    func goneCopy() throws {
        let conflict = try conflict()
        try mirror.write("x", to: "a (conflict 1).md")
        #expect(unsafe unlink(mirror.configuration.directory + "/a (conflict 1).md") == 0)
        #expect(throws: SyncError.self) {
            try SyncEngine.resolve(conflict, keeping: .mine, of: mirror.configuration)
        }
        #expect(try mirror.text("a.md") == "theirs")
        try SyncEngine.resolve(conflict, keeping: .theirs, of: mirror.configuration)
        #expect(try SyncEngine.conflicts(of: mirror.configuration, all: false).isEmpty)
    }

    @Test("names in the trash are never taken twice")
    func trashNames() throws {
        for _ in 0..<2 { try SyncEngine.resolve(try conflict(), keeping: .theirs, of: mirror.configuration) }
        #expect(try trashed() == ["a (conflict 1).md", "a (conflict 1).md.1"])
    }
}
