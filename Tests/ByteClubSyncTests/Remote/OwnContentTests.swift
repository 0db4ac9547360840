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
}
