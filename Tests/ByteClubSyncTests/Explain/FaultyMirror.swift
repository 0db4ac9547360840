import ByteClubCore
import MemoryRemote
import TestSupport

@testable import ByteClubSync
@testable import SyncSimulation

/// A mirror with everything that can be in its way: a simulated disk and network, and a real database.
final class FaultyMirror: @unchecked Sendable {
    // Invariant: one test uses it, a call at a time.
    let disk = SimulatedDisk()
    let network: SimulatedNetwork
    /// The server as another member sees it.
    let other: MemoryRemote
    var configuration: SyncConfiguration
    private let directory: TemporaryDirectory
    private let clock = SimulatedClock()

    /// A mirror in sync with two files and a folder with a third.
    init() async throws {
        directory = try TemporaryDirectory(in: FastDisk.path)
        configuration = SyncConfiguration(directory: "/mirror", stateDirectory: directory.path)
        configuration.remoteRoot = .root
        let server = MemoryRemote()
        network = SimulatedNetwork(server, seed: 1)
        other = MemoryRemote(sharing: server, author: 2)
        disk.makeFolder("p")
        for (path, text) in [("a.md", "a"), ("b.md", "b"), ("p/c.md", "c")] { disk.write(path, text) }
        await sync()
    }

    /// One sync as `byteclub sync` does one; what ends it is kept for those who ask.
    func sync(waitsForTransfers: Bool = true) async {
        disk.time += 3_000_000_000
        clock.isAutomatic = true
        clock.advance(to: clock.now + .seconds(4_000))
        guard let executor = try? ThreadExecutor() else { return }
        let path = configuration.databasePath
        let environment = SyncEnvironment(
            disk: disk, openStore: { try SQLiteTreeStore(path: path) }, executor: executor, clock: clock,
            groupedBytes: SyncBatch.maximumInlineBytes)
        guard
            let session = try? SyncSession(configuration, network, environment, SyncInbox(), onEvent: { _ in })
        else { return }
        _ = try? await session.run(until: .agreement(retries: 0, waitsForTransfers: waitsForTransfers))
        try? await session.close()
    }

    /// Changes what the database keeps.
    func keep(_ key: MetaKey, _ value: String?) throws { try change { try $0.setMeta(key, value) } }

    /// Changes what the database keeps.
    func change(_ change: (SQLiteTreeStore) throws -> Void) throws {
        let store = try SQLiteTreeStore(path: configuration.databasePath)
        try change(store)
        try store.close()
    }

    /// Seconds since 1970.
    var now: Int64 { disk.time / 1_000_000_000 }

    /// The first answer about a path, also while a sync is in the middle of something.
    func why(_ path: String, isRunning: Bool = true) throws -> SyncExplanation? {
        guard let store = try SQLiteTreeStore.existing(path: configuration.databasePath, .reading) else { return nil }
        let facts = ExplainerFacts(
            isRunning: isRunning, now: now, ignoreText: disk.text(IgnoreRules.fileName) ?? "",
            onDisk: { [disk] in disk.observation($0) })
        let answer = try Explainer(store, facts).explain(path).first
        try store.close()
        return answer
    }

    /// What another member does.
    func write(_ path: String, _ text: String) async throws {
        _ = try await other.put(
            .bytes(Array(text.utf8)), at: RemotePath("/" + path), condition: .overwrite, policy: .fail, progress: nil)
    }
}

extension SimulatedDisk {
    /// What a path shows.
    func observation(_ path: String) -> DiskObservation {
        guard mount == .mounted, let node = node(path) else { return .nothing }
        return .entry(isFolder: node.kind == .folder, stat(node).fingerprint)
    }
}
