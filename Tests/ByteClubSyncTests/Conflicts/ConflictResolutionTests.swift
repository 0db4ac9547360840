import ByteClubCore
import Synchronization
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Conflicts that a person settles while an engine runs.
@Suite struct ConflictResolutionTests {
    @Test("a conflict that is settled while an engine recovers is settled, and nothing is lost")
    func duringRecovery() throws {
        let scene = try MachineScene.synced(["note": "theirs", "note copy": "mine"])
        let recoveries = Mutex(0)
        scene.disk.before = { [unowned scene] call in
            guard call.verb == .rename, call.path.contains("resolve-") else { return }
            let before = scene.disk.before
            scene.disk.before = nil
            defer { scene.disk.before = before }
            #expect(throws: Never.self) {
                let context = try scene.context()
                let control = try ControlDirectory(in: context.root)
                let scanner = Scanner(root: context.root, store: context.store)
                var report = SyncReport()
                try LocalReplica(context, control, scanner).recover(besides: [], &report)
            }
            recoveries.withLock { $0 += 1 }
        }
        let conflict = SyncStatus.Conflict(path: "note", copy: "note copy", at: 0)
        try ConflictResolution(scene.disk).settle(conflict, keeping: .mine)
        scene.disk.before = nil
        // Before the new content takes the name, and before the old one goes to the trash.
        #expect(recoveries.withLock { $0 } == 2)
        #expect(scene.files == ["note": "mine"])
        let kept = scene.disk.tree(below: ".byteclub", includesPrivate: true).compactMap(\.content)
        #expect(kept.contains(Array("theirs".utf8)) && kept.contains(Array("mine".utf8)))
        #expect(!scene.disk.tree(below: ".byteclub", includesPrivate: true).contains { $0.path.contains("resolve-") })
    }
}
