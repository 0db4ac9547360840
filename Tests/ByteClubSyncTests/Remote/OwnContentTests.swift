import ByteClubCore
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite struct OwnContentTests {
    @Test("an engine gets back no content that it has sent, and all that others have written")
    func echo() async throws {
        let scene = MachineScene()
        for number in 0..<20 { scene.disk.write("own \(number).md", "\(number)") }
        _ = try scene.sync().get()
        scene.wait()
        _ = try scene.sync().get()
        #expect(scene.machine.network.inlineContents == 0)
        #expect(scene.machine.database.trees.items.allSatisfy { $0.isSettled })
        try await scene.put("other.md", "other's")
        try await scene.put("own 3.md", "3, by another")
        scene.wait()
        _ = try scene.sync().get()
        #expect(scene.machine.network.inlineContents == 2)
        #expect(scene.files["other.md"] == "other's" && scene.files["own 3.md"] == "3, by another")
    }

    @Test("what an engine sent and no longer has comes back, though its server leaves it out of the page")
    func lost() async throws {
        let scene = MachineScene()
        scene.disk.write("note.md", "sent")
        // The answer is lost, and then the file, before the engine has seen its write in the journal.
        scene.machine.network.onWrite = { _ in scene.disk.delete("note.md") }
        _ = try scene.sync()
        scene.machine.network.onWrite = { _ in }
        scene.wait()
        try scene.settle()
        let stored = try await scene.stored()
        #expect(stored["note.md"] == scene.files["note.md"])
    }
}
