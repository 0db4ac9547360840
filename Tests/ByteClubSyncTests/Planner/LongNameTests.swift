import ByteClubCore
import MemoryRemote
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Conflict copies of names that leave no room for more.
@Suite struct LongNameTests {
    /// Names that the first stamp has cut: in one letter of one byte, in letters of two, and in none but one.
    static let stems = [
        String(repeating: "x", count: 230), String(repeating: "\u{E9}", count: 115),
        "z" + String(repeating: "\u{337}", count: 112),
    ]

    @Test("a conflict of a conflict copy gets a name of its own, though both are cut to 255 bytes", arguments: stems)
    func again(stem: String) async throws {
        let remote = MemoryRemote()
        let one = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path, member: "ann")
        let two = try Device(MemoryRemote(sharing: remote, author: 2), in: FastDisk.path, member: "bo")
        var name = stem + ".md"
        one.write(name, "first")
        try await one.sync()
        try await two.sync()
        for round in 1...3 {
            let known = Set(two.files().keys)
            for device in [one, two] { device.write(name, "of \(device === one ? "ann" : "bo") \(round)") }
            #expect(try await one.sync().isComplete)
            #expect(try await two.sync().isComplete)
            #expect(two.read(name) == "of ann \(round)")
            let copy = try #require(Set(two.files().keys).subtracting(known).first)
            #expect(two.read(copy) == "of bo \(round)" && copy.utf8.count <= 255)
            try await one.sync()
            #expect(one.files() == two.files())
            // The next conflict is one of the copy.
            name = copy
        }
    }

    @Test("a sync that ends without agreement tells why, unless something else does")
    func reason() throws {
        let scene = try MachineScene.synced(["a.md": "a"])
        let log = EventLog()
        let status = StatusRecorder(try scene.context()) { log.add($0) }
        var summary = SyncSummary()
        summary.problems = 1
        try status.explainEnd(summary, SessionOutcome())
        #expect(log.all.isEmpty)
        summary.problems = 0
        try status.explainEnd(summary, SessionOutcome())
        #expect(log.all.map(\.event) == [.problem] && log.all.first?.message?.isEmpty == false)
    }
}
