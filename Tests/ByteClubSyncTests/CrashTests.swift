import ByteClubCore
import ByteClubRemotes
import Synchronization
import Testing

@testable import ByteClubSync

/// An engine that is stopped dead before each of its effects in turn, and the one that comes after it.
@Suite struct CrashTests {
    /// Stops at the effect with a number.
    private final class Countdown: Sendable {
        private let rest: Mutex<Int>
        init(_ count: Int) { rest = Mutex(count) }

        func step() throws {
            try rest.withLock { rest in
                rest -= 1
                if rest < 0 { throw SimulatedCrash() }
            }
        }
    }

    private static let texts: Set<String> = [
        "remote edit-remote", "local edit-local", "remote edit-both", "local edit-both", "remote new", "local new",
    ]

    private static let names = [
        "edit-remote", "edit-local", "edit-both", "gone-remote", "gone-local", "gone-folder/in", "stays",
    ]

    /// A mirror that is about to be synced for the first time.
    private static func device(_ remote: MemoryRemote) throws -> Device {
        let device = try Device(remote, in: FastDisk.path, forces: true)
        for name in names { device.write(name, "base \(name)") }
        return device
    }

    private func change(_ remote: MemoryRemote) async throws {
        try await remote.write("edit-remote", "remote edit-remote")
        try await remote.write("edit-both", "remote edit-both")
        try await remote.remove("gone-remote")
        try await remote.remove("gone-folder")
        try await remote.write("new-folder/new-remote", "remote new")
    }

    private func change(_ device: Device) {
        device.write("edit-local", "local edit-local")
        device.write("edit-both", "local edit-both")
        device.remove("gone-local")
        device.write("here/new-local", "local new")
    }

    /// Stops one engine before an effect, runs the next, and tells whether the first had come to its end.
    private func isFinished(stoppedAt index: Int) async throws -> Bool {
        let remote = MemoryRemote()
        let device = try Self.device(remote)
        try await device.sync()
        try await change(remote)
        change(device)
        let countdown = Countdown(index)
        let probe = SyncProbe(before: { _ in try countdown.step() })
        let first = try? await device.sync(probe: probe)
        check(device, index)
        let summary = try await device.sync()
        #expect(summary.isComplete, "after effect \(index)")
        let stored = try await remote.files()
        checkEnd(device, stored, index)
        return first != nil
    }

    private func check(_ device: Device, _ index: Int) {
        let known = Self.texts.union(device.files().values.filter { $0.hasPrefix("base ") }).union([""])
        #expect(Set(device.files().values).isSubset(of: known), "torn after effect \(index)")
    }

    private func checkEnd(_ device: Device, _ stored: [String: String], _ index: Int) {
        let files = device.files()
        #expect(stored == files, "after effect \(index)")
        #expect(Set(files.values) == Self.texts.union(["base stays", ""]), "after effect \(index)")
        #expect(device.isStagingEmpty, "after effect \(index)")
        #expect(
            device.trash.allSatisfy { $0.hasPrefix("base ") || $0.hasPrefix("remote ") }, "after effect \(index)")
    }

    @Test("an engine that is stopped before any one effect leaves nothing torn, and the next one finishes")
    func everyEffect() async throws {
        var index = 0
        while index < 200, try await !isFinished(stoppedAt: index) { index += 1 }
        print("crash points tried: \(index)")
        #expect(index > 10 && index < 200)
    }

    @Test("an edit that comes between the plan and the exchange is kept beside the new content")
    func editBeforeExchange() async throws {
        let remote = MemoryRemote()
        let device = try Device(remote)
        device.write("a.md", "base")
        try await device.sync()
        try await remote.write("a.md", "from the server")
        let probe = SyncProbe(before: { effect in
            if effect == .rename("a.md") { device.write("a.md", "typed just now") }
        })
        let summary = try await device.sync(probe: probe)
        #expect(summary.conflicts == 1)
        #expect(device.read("a.md") == "from the server")
        #expect(Set(device.files().values) == ["from the server", "typed just now"])
        #expect(try await remote.files() == device.files())
    }

    @Test("an edit that comes just before a deletion is put back")
    func editBeforeDiscard() async throws {
        let remote = MemoryRemote()
        let device = try Device(remote)
        for name in ["a.md", "b.md", "c.md"] { device.write(name, "base") }
        try await device.sync()
        try await remote.remove("a.md")
        let probe = SyncProbe(before: { effect in
            if effect == .rename("a.md") { device.write("a.md", "typed just now") }
        })
        try await device.sync(probe: probe)
        #expect(device.read("a.md") == "typed just now")
        #expect(try await remote.text("a.md") == "typed just now")
    }

    @Test("a file that appears where one is about to be created is not overwritten")
    func createBeforeCreate() async throws {
        let remote = MemoryRemote()
        let device = try Device(remote)
        try await device.sync()
        try await remote.write("a.md", "from the server")
        let typed = Mutex(false)
        let probe = SyncProbe(before: { effect in
            guard effect == .rename("a.md") else { return }
            let isFirst = typed.withLock { typed in
                defer { typed = true }
                return !typed
            }
            if isFirst { device.write("a.md", "typed just now") }
        })
        try await device.sync(probe: probe)
        #expect(Set(device.files().values) == ["from the server", "typed just now"])
        #expect(try await remote.files() == device.files())
    }

    @Test("a lost reply makes no second version and no conflict")
    func lostReply() async throws {
        let remote = MemoryRemote()
        let device = try Device(remote)
        device.write("a.md", "text")
        let struck = Mutex(false)
        remote.fault = { operation throws(RemoteError) in
            guard operation.kind == .put, operation.moment == .after else { return }
            let isFirst = struck.withLock { struck in
                defer { struck = true }
                return !struck
            }
            if isFirst { throw RemoteError(.unreachable, "the reply was lost") }
        }
        let summary = try await device.sync()
        #expect(summary.conflicts == 0 && summary.isComplete)
        #expect(try await remote.files() == ["a.md": "text"])
        #expect(try await remote.revisions(of: RemotePath("/byteclub/a.md"), limit: 10).count == 1)
    }

    @Test("a server that cannot be reached is one clear error, and what was done stays done")
    func unreachable() async throws {
        let remote = MemoryRemote()
        let device = try Device(remote)
        device.write("a.md", "text")
        remote.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "nobody answers") }
        let error = await #expect(throws: SyncError.self) { try await device.sync() }
        #expect(error?.message == "nobody answers")
        remote.fault = nil
        #expect(try await device.sync().uploaded == 1)
    }
}
