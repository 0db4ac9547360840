import ByteClubCore
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync

/// Ignore rules that came from another member and would leave out much.
@Suite struct HeldRulesTests {
    private static let name = ".byteclubignore"

    private func filled(_ count: Int = 40) async throws -> (MemoryRemote, Device) {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path)
        for number in 0..<count { device.write("note \(number).md", "text \(number)") }
        try await device.sync()
        return (remote, device)
    }

    private func status(_ device: Device) throws -> SyncStatus { try SyncEngine.status(of: device.configuration) }

    /// Two syncs: one gets the file, the next goes by it.
    @discardableResult
    private func arrived(_ device: Device) async throws -> SyncSummary {
        try await device.sync()
        device.log.clear()
        return try await device.sync()
    }

    @Test("one line of an editor ends nobody's mirror", arguments: ["*\n", "*.md\n", "**\n", ".*\n/note*\n", "?*\n"])
    func oneLine(rules: String) async throws {
        let (remote, device) = try await filled()
        try await remote.write(Self.name, rules)
        let summary = try await arrived(device)
        #expect(summary.heldByRules == 40 && !summary.isComplete && summary.ignored == SyncStatus.Ignored())
        #expect(device.log.paths(.held) == [Self.name])
        #expect(try status(device).heldRules?.entries == 40 && status(device).heldRules?.synced == 40)
        // All goes on in both directions, in this engine and the next ones.
        device.write("new.md", "of this machine")
        try await remote.write("note 1.md", "edited by another")
        try await remote.write("other.md", "of another")
        #expect(try await device.sync().heldByRules == 40)
        #expect(try await remote.text("new.md") == "of this machine")
        #expect(device.read("note 1.md") == "edited by another" && device.read("other.md") == "of another")
        let why = try #require(try SyncEngine.explain(Self.name, of: device.configuration).first)
        #expect(why.blockers.contains { $0.contains("new rules would exclude 40 of 40") }, "\(why)")
        // The correction arrives, and with it the hold is over.
        try await remote.write(Self.name, "*.tmp\n")
        let mended = try await arrived(device)
        #expect(mended.isComplete && mended.heldByRules == 0)
        #expect(try status(device).heldRules == nil && device.read(Self.name) == "*.tmp\n")
    }

    @Test("rules that a person approves hold from the next sync on, and still take a correction")
    func approved() async throws {
        let (remote, device) = try await filled()
        try await remote.write(Self.name, "*\n")
        try await arrived(device)
        #expect(try SyncEngine.approveRules(of: device.configuration)?.entries == 40)
        let summary = try await device.sync()
        #expect(summary.isComplete && summary.heldByRules == 0 && summary.deletedLocal + summary.deletedRemote == 0)
        #expect(summary.ignored == SyncStatus.Ignored(disk: 40, server: 40))
        #expect(try status(device).ignored == summary.ignored && status(device).heldRules == nil)
        #expect(try SyncEngine.approveRules(of: device.configuration) == nil)
        try await remote.write("note 1.md", "edited by another")
        try await remote.write(Self.name, "")
        #expect(try await arrived(device).isComplete)
        #expect(try await remote.files() == device.files())
        #expect(try status(device).ignored == SyncStatus.Ignored())
    }

    @Test("a person takes the file back that was there before, here and on the server")
    func restored() async throws {
        for before in ["*.tmp\n", nil] {
            let (remote, device) = try await filled()
            if let before { device.write(Self.name, before) }
            try await device.sync()
            try await remote.write(Self.name, "*\n")
            #expect(try await arrived(device).heldByRules == 40)
            #expect(try SyncEngine.restoreRules(of: device.configuration)?.entries == 40)
            #expect(device.read(Self.name) == before)
            let summary = try await device.sync()
            #expect(summary.isComplete && summary.heldByRules == 0)
            #expect(try await remote.text(Self.name) == before && device.trash.contains("*\n"))
        }
    }

    @Test("rules of one's own hold at once, and the others' machines ask")
    func own() async throws {
        let (remote, device) = try await filled()
        let other = try Device(remote, in: FastDisk.path)
        try await other.sync()
        device.write(Self.name, "*.md\n")
        let summary = try await device.sync()
        #expect(summary.isComplete && summary.ignored == SyncStatus.Ignored(disk: 40, server: 40))
        #expect(try await device.sync().isComplete)
        #expect(try await arrived(other).heldByRules == 40)
        // What is written into a file that waits does not let the rest of it through.
        other.write(Self.name, "*.md\n*.tmp\n")
        #expect(try await other.sync().heldByRules == 40)
        #expect(try await other.sync().heldByRules == 40)
        other.write(Self.name, "*.tmp\n")
        #expect(try await other.sync().isComplete)
        #expect(try await other.sync().isComplete)
    }

    @Test("rules that leave out as much as may be deleted at once are not held")
    func few() async throws {
        let (remote, device) = try await filled(100)
        try await remote.write(Self.name, "note 1?.md\nnote 2?.md\nnote [3-7].md\n")
        let summary = try await arrived(device)
        #expect(summary.heldByRules == 0 && summary.isComplete && summary.ignored.server == 25)
        try await remote.write(Self.name, "note [1-5]?.md\nnote [3-7].md\n")
        #expect(try await arrived(device).heldByRules == 30)
    }

    @Test("a mirror that hides its ignore file since an older version sees the correction")
    func hiddenBefore() async throws {
        let (remote, device) = try await filled(3)
        device.write(Self.name, "*\n")
        try await device.sync()
        let store = try SQLiteTreeStore(path: device.configuration.databasePath)
        let item = try #require(try store.children(of: .root, key: Self.name, on: .local).first)
        try store.edit(durably: false) { editor in try editor.exclude(item.id) }
        try store.setMeta(.ignoreText, nil)
        try store.close()
        try await remote.write(Self.name, "*.tmp\n")
        for _ in 0..<3 { try await device.sync() }
        #expect(device.read(Self.name) == "*.tmp\n")
        #expect(try await device.sync().ignored == SyncStatus.Ignored())
    }

    @Test("a file of 70,000 costly patterns holds up no sync: it is told, and the previous rules apply")
    func manyPatterns() async throws {
        let (remote, device) = try await filled(1_000)
        device.write(Self.name, "*.tmp\n")
        try await device.sync()
        for (text, words) in [
            (String(repeating: "*a*a*b\n", count: 70_000), "more than 1000 patterns"),
            (String(repeating: "*a", count: 200) + "b\n", "longer than the 255 bytes"),
            (String(repeating: "# nothing but comments\n", count: 50_000), "larger than 1.0 MiB"),
        ] {
            try await remote.write(Self.name, text)
            device.write("mine.tmp", "ignored")
            device.write("new.md", words)
            let summary = try await arrived(device)
            #expect(device.log.all.contains { $0.event == .problem && $0.message?.contains(words) == true })
            #expect(!summary.isComplete && summary.problems == 1 && summary.heldByRules == 0)
            #expect(try status(device).problems.first?.message.hasSuffix("the previous rules apply") == true)
            let why = try #require(try SyncEngine.explain(Self.name, of: device.configuration).first)
            #expect(why.blockers.contains { $0.contains(words) }, "\(why)")
            #expect(try await remote.text("mine.tmp") == nil)
            #expect(try await remote.text("new.md") == words)
        }
        try await remote.write(Self.name, "*.tmp\n")
        #expect(try await arrived(device).isComplete)
    }

    @Test("as many patterns as a file may hold, each of them costly, hold up no sync")
    func costlyPatterns() async throws {
        let (remote, device) = try await filled(100)
        let pattern = String(repeating: "*e", count: 127)
        let text = (0..<IgnoreRules.maximumPatterns).map { _ in pattern + "\n" }.joined()
        try await remote.write(Self.name, text)
        let summary = try await arrived(device)
        #expect(summary.isComplete && summary.ignored == SyncStatus.Ignored())
        try await remote.write("note 1.md", "edited by another")
        #expect(try await device.sync().downloaded == 1)
    }
}
