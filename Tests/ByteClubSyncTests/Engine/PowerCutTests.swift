import ByteClubCore
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// What the engine takes for done is still done after the power was cut right then.
@Suite struct PowerCutTests {
    private static let seeds: ClosedRange<UInt64> = 1...12

    /// Lets something happen on the server, syncs, cuts the power at once, and goes on; both sides must be as before.
    private func cut(
        _ seed: UInt64, _ notes: [String: String], _ change: (MachineScene) async throws -> Void
    ) async throws {
        let scene = try MachineScene.synced(notes)
        try await change(scene)
        let wanted = try await scene.stored()
        scene.wait()
        _ = try scene.sync().get()
        scene.restart(afterPowerCut: true, seed: seed)
        try scene.settle()
        #expect(try await scene.stored() == wanted)
        #expect(scene.files == wanted.filter { !$0.key.hasSuffix("/") })
    }

    @Test("a new file is there", arguments: seeds)
    func file(seed: UInt64) async throws {
        try await cut(seed, ["a": "one"]) { try await $0.put("b", "two") }
    }

    @Test("several new files are there with what they hold", arguments: seeds)
    func files(seed: UInt64) async throws {
        try await cut(seed, ["a": "one"]) { for number in 0..<6 { try await $0.put("\(number)", "text \(number)") } }
    }

    @Test("a new folder is there", arguments: seeds)
    func folder(seed: UInt64) async throws {
        try await cut(seed, ["a": "one"]) { _ = try await $0.server.createFolder(RemotePath("/folder")) }
    }

    @Test("a new content is there", arguments: seeds)
    func content(seed: UInt64) async throws {
        try await cut(seed, ["a": "one"]) { try await $0.put("a", "two") }
    }

    @Test("a move has been made", arguments: seeds)
    func move(seed: UInt64) async throws {
        try await cut(seed, ["a": "one"]) { _ = try await $0.server.move(RemotePath("/a"), to: RemotePath("/b")) }
    }

    @Test("a deletion has been made", arguments: seeds)
    func deletion(seed: UInt64) async throws {
        try await cut(seed, ["a": "one", "b": "two"]) {
            _ = try await $0.server.delete(RemotePath("/a"), ifUnchangedSince: nil)
        }
    }

    /// Few files get their names one by one; the power is cut right before these are durable.
    @Test("a large file and a merged note are there, also when the cut comes early", arguments: seeds, [false, true])
    func early(seed: UInt64, isLarge: Bool) async throws {
        let scene = try MachineScene.synced(["a": "1\n2\n3\n"])
        let text = String(repeating: "large\n", count: Int(SyncBatch.maximumInlineBytes) / 5)
        if isLarge {
            try await scene.put("b", text)
        } else {
            try await scene.put("a", "one\n2\n3\n")
            scene.disk.write("a", "1\n2\nthree\n")
            scene.disk.syncAll()
        }
        scene.wait()
        scene.before(.rename, "staging/") { $0.before(.syncFolder) { $0.machine.kill() } }
        #expect(throws: (any Error).self, "nothing was made durable") { try scene.sync().get() }
        scene.restart(afterPowerCut: true, seed: seed)
        try scene.settle()
        let wanted = isLarge ? ["a": "1\n2\n3\n", "b": text] : ["a": "one\n2\nthree\n"]
        #expect(scene.files == wanted)
        #expect(try await scene.stored() == wanted)
    }

    /// Many files are written by other threads, one group while the one before gets its names.
    @Test(
        "many new files are there with what they hold, also when the cut comes early", arguments: seeds, [false, true])
    func manyFiles(seed: UInt64, isEarly: Bool) async throws {
        let server = MemoryRemote()
        var wanted: [String: String] = [:]
        for number in 0..<100 {
            wanted["\(number)"] = "text \(number)"
            _ = try await server.put(
                .bytes(Array("text \(number)".utf8)), at: RemotePath("/\(number)"), condition: .create, policy: .fail,
                progress: nil)
        }
        let (disk, database) = (SimulatedDisk(), MemoryTreeStore())
        for isFirst in [true, false] {
            database.reopen()
            let session = try Self.session(disk, database, server)
            // Their names are given, and not durable yet.
            var isNamed = false
            disk.failure = { call in
                if call.verb == .rename, call.path.contains("staging/w-") { isNamed = isEarly && isFirst }
                return isNamed && call.verb == .syncFileSystem ? EIO : nil
            }
            for _ in 0..<(isFirst ? 1 : 3) {
                disk.time += 10_000_000_000
                do {
                    _ = try await session.run(until: .agreement(retries: 0))
                } catch {
                    #expect(isNamed, "\(error)")
                }
            }
            guard isFirst else { break }
            var random = SeededGenerator(seed: seed)
            disk.crash(using: &random)
            database.crash(using: &random)
        }
        let files = disk.tree().compactMap { entry in
            entry.content.map { (entry.path, String(decoding: $0, as: UTF8.self)) }
        }
        #expect(Dictionary(files, uniquingKeysWith: { $1 }) == wanted)
        #expect(try await server.delta(after: nil, prefix: .root).entries.count == 100)
    }

    private static func session(
        _ disk: SimulatedDisk, _ database: MemoryTreeStore, _ server: MemoryRemote
    ) throws -> SyncSession {
        var configuration = SyncConfiguration(directory: "/mirror", stateDirectory: "/state")
        configuration.remoteRoot = .root
        configuration.approvesDeletions = true
        let clock = SimulatedClock()
        clock.isAutomatic = true
        let environment = SyncEnvironment(
            disk: disk, openStore: { [database = SharedStore(store: database)] in database.store },
            executor: try ThreadExecutor(), clock: clock)
        return try SyncSession(configuration, server, environment, SyncInbox(), onEvent: { _ in })
    }

    private struct SharedStore: @unchecked Sendable {
        // Invariant: one engine uses it at a time.
        let store: MemoryTreeStore
    }
}
