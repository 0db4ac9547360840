import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Conflicts of names that the server does not tell apart: each can be settled, and stays so.
@Suite struct SettlingTests {
    private let server = MemoryRemote()
    private let device: Device
    private let other: Device

    init() throws {
        device = try Device(server, in: FastDisk.path, forces: true)
        other = try Device(MemoryRemote(sharing: server, author: 2), in: FastDisk.path, forces: true)
    }

    /// Has the mirror meet a second entry of a name that one has already.
    private func conflict(_ first: String, _ second: String) async throws -> SyncStatus.Conflict {
        device.write(first, "first")
        try await device.sync()
        device.write(second, "second")
        #expect(try await device.sync().conflicts == 1)
        try await other.sync()
        let conflicts = try SyncEngine.conflicts(of: device.configuration, all: false)
        try #require(conflicts.count == 1)
        return conflicts[0]
    }

    /// Syncs both mirrors until all has arrived, and checks that nothing is made anew.
    private func expect(_ files: [String: String], _ comment: Comment) async throws {
        for device in [device, other, device, other] {
            let summary = try await device.sync()
            #expect(summary.isComplete && summary.conflicts == 0, comment)
        }
        for device in [device, other] { #expect(device.files() == files, comment) }
        #expect(try SyncEngine.conflicts(of: device.configuration, all: false).isEmpty, comment)
        let summary = try await device.sync()
        #expect(summary.uploaded + summary.downloaded + summary.deletedLocal + summary.deletedRemote == 0, comment)
    }

    @Test(
        "two names that differ in letter case or composition only are settled by each side",
        arguments: [("case.md", "CASE.md"), ("\u{E9}.md", "e\u{301}.md")], ConflictSide.allCases)
    func names(names: (String, String), side: ConflictSide) async throws {
        let conflict = try await conflict(names.0, names.1)
        #expect(conflict.path.utf8.elementsEqual(names.1.utf8))
        #expect(conflict.holder?.utf8.elementsEqual(names.0.utf8) == true)
        try SyncEngine.resolve(conflict, keeping: side, of: device.configuration)
        let kept = side == .mine ? "second" : "first"
        let both = side == .both ? [conflict.copy: "second"] : [:]
        try await expect(both.merging([names.0: kept]) { $1 }, "\(side)")
        let versions = try await server.revisions(of: RemotePath("/byteclub/" + names.0), limit: 10)
        #expect(versions.count == (side == .mine ? 2 : 1), "the entry goes on")
        if side != .both { #expect(device.trash.contains(side == .mine ? "first" : "second")) }
    }

    @Test("two folders of such names are settled by each side", arguments: ConflictSide.allCases)
    func folders(side: ConflictSide) async throws {
        let conflict = try await conflict("dir/a.md", "Dir/b.md")
        #expect(conflict.path == "Dir" && conflict.holder == "dir")
        try SyncEngine.resolve(conflict, keeping: side, of: device.configuration)
        let first = ["dir/": "", "dir/a.md": "first"]
        switch side {
        case .mine: try await expect(["Dir/": "", "Dir/b.md": "second"], "\(side)")
        case .theirs: try await expect(first, "\(side)")
        case .both:
            let copy = [conflict.copy + "/": "", conflict.copy + "/b.md": "second"]
            try await expect(first.merging(copy) { $1 }, "\(side)")
        }
        if side != .both { #expect(device.trash.contains(side == .mine ? "first" : "second")) }
    }

    @Test("a folder takes the place of a file, and a file that of a folder", arguments: [false, true])
    func kinds(isFolderFirst: Bool) async throws {
        let names = isFolderFirst ? ("x/a.md", "X") : ("x", "X/a.md")
        let conflict = try await conflict(names.0, names.1)
        try SyncEngine.resolve(conflict, keeping: .mine, of: device.configuration)
        try await expect(isFolderFirst ? ["X": "second"] : ["X/": "", "X/a.md": "second"], "\(names)")
    }

    @Test("a folder that had left its name when settling was cut short gets it when it is settled again")
    func cutShort() async throws {
        let conflict = try await conflict("dir/a.md", "Dir/b.md")
        device.remove("dir")
        try SyncEngine.resolve(conflict, keeping: .mine, of: device.configuration)
        try await expect(["Dir/": "", "Dir/b.md": "second"], "cut short")
    }
}
