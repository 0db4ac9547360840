import ByteClubCore
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// One simulated machine and a server that another member uses, with a say in what happens between two calls of the
/// engine.
final class MachineScene: @unchecked Sendable {
    // Invariant: one thread uses it.
    let server: MemoryRemote
    let machine: SimulatedMachine
    private let executor = SimulationExecutor(seed: 1)
    private var random = SeededGenerator(seed: 1)

    /// A machine with a server of its own, which tells so many entries at once, or with another scene's.
    init(usesExtension: Bool = true, pageSize: Int = 5, sharing other: MachineScene? = nil) {
        server = other?.server ?? MemoryRemote(pageSize: pageSize)
        let network = SimulatedNetwork(MemoryRemote(sharing: server, author: other == nil ? 2 : 3), seed: 1)
        machine = SimulatedMachine(0, network, executor, usesExtension: usesExtension)
    }

    var disk: SimulatedDisk { machine.disk }
    /// The member whose engine it is, seen from the server.
    var member: MemoryRemote { machine.network.server }

    /// Lets so much time pass that no stat is racy any more, and no writer is waited for.
    func wait() {
        disk.time += 10_000_000_000
        machine.uptime += .seconds(100)
    }

    /// Runs to agreement, or to the engine's end.
    @discardableResult
    func sync() throws -> Result<SessionOutcome, any Error> {
        machine.sync()
        while machine.isSyncing, !executor.isIdle { executor.step() }
        return try #require(machine.lastOutcome)
    }

    /// What the parts of an engine share, for a test that asks one of them alone.
    func context() throws -> SyncContext {
        machine.database.reopen()
        let root = try disk.openRoot()
        return SyncContext(
            machine.configuration, machine.environment, store: machine.database, root: root, isWatching: false)
    }

    /// The server's side of the trees, for a test that tells it something.
    func remoteTree(ordersRevisions: Bool = true) throws -> RemoteTree {
        let context = try context()
        return RemoteTree(
            context, machine.network, Scanner(root: context.root, store: context.store),
            ordersRevisions: ordersRevisions)
    }

    /// The replica that speaks plain v1 and the reader of files, for a test that asks one of them alone.
    func pathReplica() throws -> (replica: PathReplica, reader: FileReader) {
        let tree = try remoteTree(ordersRevisions: machine.network.ordersRevisions)
        let reader = FileReader(tree.context, Scanner(root: tree.context.root, store: tree.context.store))
        return (PathReplica(tree, hasLongPoll: true), reader)
    }

    /// Runs until all is at rest.
    func settle() throws {
        for _ in 0..<4 {
            wait()
            _ = try sync().get()
        }
    }

    /// Writes a file as the other member.
    func put(_ path: String, _ text: String) async throws {
        _ = try await server.put(
            .bytes(Array(text.utf8)), at: RemotePath("/" + path), condition: .overwrite, policy: .fail, progress: nil)
    }

    /// Synced notes, old enough that no stat is racy.
    static func synced(_ notes: [String: String], usesExtension: Bool = true) throws -> MachineScene {
        let scene = MachineScene(usesExtension: usesExtension)
        for (path, text) in notes.sorted(by: { $0.key < $1.key }) { scene.disk.write(path, text) }
        try scene.settle()
        scene.disk.syncAll()
        return scene
    }

    /// Does something once, right before the engine's next call that is like this one.
    func before(
        _ verb: SimulatedDisk.Call.Verb, _ part: String = "", then work: @escaping (MachineScene) -> Void
    ) {
        disk.before = { [unowned self] call in
            guard call.verb == verb, part.isEmpty || call.path.contains(part) else { return }
            disk.before = nil
            work(self)
        }
    }

    /// Lets the engine have the effect that is due, and then no other.
    func stopAfterThis() { machine.life = 2 }

    /// Starts the machine anew.
    func restart(afterPowerCut: Bool = false, seed: UInt64 = 1) {
        random = SeededGenerator(seed: seed)
        machine.restart(afterPowerCut: afterPowerCut, using: &random)
    }

    /// The texts of all files, without what is ours.
    var texts: [String] { disk.tree().compactMap(\.content).map(Fixture.text).sorted() }
    /// The files by their paths.
    var files: [String: String] {
        Dictionary(
            disk.tree().compactMap { entry in entry.content.map { (entry.path, Fixture.text($0)) } },
            uniquingKeysWith: { $1 })
    }

    /// What the server has, by paths; folders with a slash.
    func stored() async throws -> [String: String] {
        var found: [String: String] = [:]
        var cursor: String?
        while true {
            let page = try await server.delta(after: cursor, prefix: .root)
            for metadata in page.entries.compactMap(\.metadata) {
                let path = String(metadata.path.string.dropFirst())
                if metadata.isFolder {
                    found[path + "/"] = ""
                } else {
                    let bytes = try await server.content(
                        at: metadata.path, revision: nil, range: nil, limit: 1 << 20
                    ).bytes
                    found[path] = Fixture.text(bytes)
                }
            }
            cursor = page.cursor
            if !page.hasMore { return found }
        }
    }
}
