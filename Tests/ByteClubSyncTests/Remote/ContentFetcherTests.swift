import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite("Contents come down") struct ContentFetcherTests {
    @Test("photos that have come before connection lost are installed, and are not fetched again")
    func broken() async throws {
        let scene = MachineScene()
        for number in 0..<40 { try await scene.put("\(number).jpg", String(repeating: "\(number) ", count: 40_000)) }
        let network = scene.machine.network
        var fetched = 0
        network.distort = { bytes in
            fetched += 1
            if fetched == 20 { network.isDown = true }
            return bytes
        }
        try scene.sync()
        // What was under way then came, too.
        #expect((20...22).contains(fetched) && scene.files.count == fetched)
        network.isDown = false
        try scene.settle()
        #expect(scene.files.count == 40 && fetched == 40)
    }

    @Test("a content that is another than the server tells of is in no folder, neither as a note nor as a photo")
    func lie() async throws {
        for length in [500, 100_000] {
            let scene = MachineScene(usesExtension: length > 1_000)
            let text = String(repeating: "a", count: length)
            try await scene.put("a", text)
            scene.machine.network.distort = { bytes in [UInt8](repeating: UInt8(ascii: "b"), count: bytes.count) }
            for _ in 0..<3 {
                scene.wait()
                try scene.sync()
            }
            #expect(scene.files.isEmpty && scene.texts.allSatisfy { !$0.contains("b") })
            scene.machine.network.distort = { $0 }
            try scene.settle()
            #expect(scene.files == ["a": text])
        }
    }

    @Test("two edits are merged on the text from the server's history")
    func history() async throws {
        let scene = MachineScene()
        let lines = (0..<9).map { "line \($0)\n" }
        scene.disk.write("a.md", lines.joined())
        try scene.settle()
        var mine = lines
        mine[1] = "mine\n"
        var theirs = lines
        theirs[7] = "theirs\n"
        try await scene.put("a.md", theirs.joined())
        scene.disk.write("a.md", mine.joined())
        try scene.settle()
        mine[7] = "theirs\n"
        #expect(scene.files == ["a.md": mine.joined()])
        #expect(try await scene.stored() == ["a.md": mine.joined()])
    }
}
