import ByteClubCore
import ByteClubRemotes
import Glibc
import TestSupport
import Testing

@testable import ByteClubSync

/// Engines that keep running.
@Suite(.serialized) struct ContinuousTests {
    /// Waits until something is so, or fails after ten seconds.
    private func eventually(_ what: String, _ isSo: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while try await !isSo() {
            if ContinuousClock.now > deadline {
                Issue.record("never came to pass: \(what)")
                return
            }
            try await Task.sleep(for: .microseconds(500))
        }
    }

    @Test("edits made in one running mirror appear in the other at once")
    func latency() async throws {
        let remote = MemoryRemote()
        let one = try Device(MemoryRemote(sharing: remote, author: 1))
        let two = try Device(MemoryRemote(sharing: remote, author: 2))
        for number in 0..<50 { one.write("note \(number).md", "text") }
        let engines = [try one.engine(), try two.engine()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for engine in engines { group.addTask { try await engine.run() } }
            try await eventually("first sync") { two.files() == one.files() && two.files().count == 50 }
            var times: [Duration] = []
            for number in 0..<30 {
                let start = ContinuousClock.now
                one.write("note \(number).md", "edit \(number)")
                try await eventually("edit \(number)") { two.read("note \(number).md") == "edit \(number)" }
                times.append(ContinuousClock.now - start)
                try await Task.sleep(for: .milliseconds(20))
            }
            times.sort()
            print("edit to visible: median \(times[15]), slowest \(times[29])")
            #expect(times[15] < .milliseconds(200))
            two.write("deep/folder/note.md", "from two")
            try await eventually("new folder") { one.read("deep/folder/note.md") == "from two" }
            one.write("deep/folder/second.md", "into a new folder")
            try await eventually("file in it") { two.read("deep/folder/second.md") == "into a new folder" }
            one.remove("note 49.md")
            try await eventually("deletion") { !two.exists("note 49.md") }
            one.remove("deep")
            try await eventually("folder deletion") { !two.exists("deep") }
            group.cancelAll()
        }
        #expect(one.files() == two.files())
    }

    @Test("a running engine outlasts a server that is away, and a mirror that is taken away ends it")
    func outage() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        device.write("a.md", "1")
        let engine = try device.engine()
        let running = Task { try await engine.run() }
        try await eventually("first sync") { try await remote.text("a.md") == "1" }
        device.remote.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "away") }
        device.write("a.md", "2")
        for await event in engine.events where event.event == .problem { break }
        device.remote.fault = nil
        try await eventually("after the outage") { try await remote.text("a.md") == "2" }
        unsafe rename(device.root, device.root + ".away")
        device.write("b.md", "another mirror")
        try await remote.write("c.md", "wakes the engine")
        let error = await #expect(throws: SyncError.self) { try await running.value }
        #expect(error?.code == .rootReplaced)
        #expect(try await remote.text("a.md") == "2")
    }
}
