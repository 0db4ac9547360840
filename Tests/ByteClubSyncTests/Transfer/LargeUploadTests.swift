import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// How files go up that are too large for a group.
@Suite struct LargeUploadTests {
    private static let path = "/byteclub/big.jpg"

    private func isStored(_ bytes: [UInt8], on remote: MemoryRemote) async throws -> Bool {
        try await remote.metadata(at: RemotePath(Self.path)).contentHash == ContentHasher.hash(bytes)
    }

    @Test("a new large file is sent as it is, in no chunks, and an edit as the chunks that the server has not")
    func newAndEdited() async throws {
        let one = try Device(MemoryRemote())
        var photo = noise(18 << 20, seed: 1)
        let calls = Calls(of: one.remote)
        one.write("big.jpg", photo)
        #expect(try await one.sync().uploaded == 1)
        #expect(try await isStored(photo, on: one.remote))
        #expect(calls[.sendUpload] == 1 && calls[.missingChunks] == 0)
        photo[9 << 20] ^= 1
        one.write("big.jpg", photo)
        #expect(try await one.sync().uploaded == 1)
        #expect(try await isStored(photo, on: one.remote))
        #expect(calls[.sendUpload] == 1 && calls[.putChunks] == 1 && calls[.putChunk] == 0)
        #expect(one.isStagingEmpty)
    }

    @Test("a server that stores no uploads gets a large file chunk by chunk")
    func older() async throws {
        let one = try Device(MemoryRemote(bulkChunks: false))
        let photo = noise(3 << 20, seed: 1)
        let calls = Calls(of: one.remote)
        one.write("big.jpg", photo)
        #expect(try await one.sync().uploaded == 1)
        #expect(try await isStored(photo, on: one.remote))
        #expect(calls[.sendUpload] == 0 && calls[.putChunks] == 0 && calls[.putChunk] > 1)
    }

    /// A machine with a photo that goes up by itself.
    private struct Scene {
        let scene: MachineScene
        let photo = noise(1 << 20, seed: 2)
        var network: SimulatedNetwork { scene.machine.network }
        var staged: [String] {
            scene.disk.tree(below: ".byteclub/staging", includesPrivate: true).filter { $0.content != nil }.map(\.path)
        }
        var stored: ContentHash? {
            get async throws { try await scene.server.metadata(at: RemotePath("/big.jpg")).contentHash }
        }

        init(usesExtension: Bool) throws {
            scene = MachineScene(usesExtension: usesExtension)
            scene.disk.hasPaths = true
            scene.machine.configuration.schedule = try SyncSchedule(parsing: "unlimited")
            scene.disk.write("big.jpg", photo)
            scene.wait()
        }
    }

    @Test("an upload goes on where the engine was stopped dead, over both wires", arguments: [true, false])
    func killed(usesExtension: Bool) async throws {
        let scene = try Scene(usesExtension: usesExtension)
        var pieces = 0
        scene.network.onPiece = {
            pieces += 1
            if pieces.isMultiple(of: 3) { scene.scene.machine.kill() }
        }
        for _ in 0..<2 {
            _ = try scene.scene.sync()
            #expect(scene.scene.machine.isDead)
            scene.scene.restart()
        }
        scene.network.onPiece = {}
        _ = try scene.scene.sync().get()
        #expect(try await scene.stored == ContentHasher.hash(scene.photo))
        #expect(scene.network.uploaded == scene.photo.count)
        #expect(scene.staged.isEmpty)
    }

    @Test("an upload that the server has forgotten begins anew, over both wires", arguments: [true, false])
    func forgotten(usesExtension: Bool) async throws {
        let scene = try Scene(usesExtension: usesExtension)
        scene.network.onPiece = { scene.scene.machine.kill() }
        _ = try scene.scene.sync()
        scene.scene.restart()
        scene.network.onPiece = {}
        scene.network.uploads = [:]
        _ = try scene.scene.sync().get()
        #expect(try await scene.stored == ContentHasher.hash(scene.photo))
        #expect(scene.network.uploaded == scene.photo.count + SimulatedNetwork.uploadPiece)
        #expect(scene.staged.isEmpty)
    }

    @Test(
        "a file that changes while it is sent is sent as it is then, and nothing torn is kept",
        arguments: [true, false])
    func changed(usesExtension: Bool) async throws {
        let scene = try Scene(usesExtension: usesExtension)
        // Without a schedule no wait but that for the writer moves the clock.
        scene.scene.machine.configuration.schedule = SyncSchedule()
        let size = 17 << 20
        scene.scene.disk.write("big.jpg", noise(size, seed: 3))
        scene.scene.wait()
        var (runs, changed) = (0, -1)
        scene.network.onPiece = {
            if runs == changed || runs == 4 { return }
            changed = runs
            scene.scene.disk.time += 1_000_000_000
            scene.scene.disk.write("big.jpg", noise(size, seed: 4 + UInt64(runs)))
        }
        let other = noise(size, seed: 7)
        while runs < 9, scene.scene.machine.database.trees.items.contains(where: { !$0.isSettled }) || runs == 0 {
            let before = scene.network.uploaded
            _ = try scene.scene.sync().get()
            #expect(scene.network.uploaded - before <= size, "a run sends it once")
            #expect(scene.scene.machine.database.problems().isEmpty, "neither disk nor server has refused it")
            runs += 1
            scene.scene.wait()
        }
        #expect(runs == 5)
        #expect(try await scene.stored == ContentHasher.hash(other))
        #expect(
            try await scene.scene.server.revisions(of: RemotePath("/big.jpg"), limit: 5).count == 1,
            "no other state was visible")
        #expect(scene.staged.isEmpty)
    }

    @Test("a file that only gets another name while it is sent is not sent in vain", arguments: [true, false])
    func renamed(usesExtension: Bool) async throws {
        let scene = try Scene(usesExtension: usesExtension)
        scene.scene.machine.configuration.schedule = SyncSchedule()
        let photo = noise(17 << 20, seed: 3)
        scene.scene.disk.write("big.jpg", photo)
        scene.scene.wait()
        var isRenamed = false
        scene.network.onPiece = {
            if isRenamed { return }
            scene.scene.disk.time += 1_000_000_000
            isRenamed = scene.scene.disk.move("big.jpg", to: "other.jpg")
        }
        let start = scene.scene.machine.uptime
        _ = try scene.scene.sync().get()
        #expect(isRenamed && scene.scene.machine.database.problems().isEmpty)
        #expect(scene.scene.machine.uptime == start, "nothing waits for a writer")
        scene.scene.wait()
        _ = try scene.scene.sync().get()
        #expect(
            try await scene.scene.server.metadata(at: RemotePath("/other.jpg")).contentHash
                == ContentHasher.hash(photo))
    }

    @Test(
        "a large file that changes while it is hashed is read again, and is sent as it is then",
        arguments: [false, true])
    func changedWhileHashed(keepsTime: Bool) async throws {
        let scene = try Scene(usesExtension: true)
        let other = noise(1 << 20, seed: 3)
        var hashes: [ContentHash?] = []
        scene.scene.before(.open, "big.jpg") {
            $0.before(.read) {
                let modified = $0.disk.node("big.jpg")?.modified
                $0.disk.write("big.jpg", other)
                // As programs do that copy a file with its time.
                if keepsTime, let modified { $0.disk.touch("big.jpg", modified: modified) }
                $0.before(.open, "big.jpg") { hashes = $0.machine.database.trees.items.map(\.local?.hash) }
            }
        }
        _ = try scene.scene.sync().get()
        scene.scene.wait()
        _ = try scene.scene.sync().get()
        #expect(hashes.allSatisfy { $0 == nil } && !hashes.isEmpty, "no hash is kept of a file that has never been so")
        #expect(try await scene.stored == ContentHasher.hash(other))
    }

    @Test("what is kept of an upload goes when its file is gone")
    func givenUp() async throws {
        let scene = try Scene(usesExtension: true)
        scene.network.onPiece = { scene.scene.machine.kill() }
        _ = try scene.scene.sync()
        #expect(scene.staged.count == 1)
        scene.scene.restart()
        scene.network.onPiece = {}
        scene.scene.disk.delete("big.jpg")
        _ = try scene.scene.sync().get()
        #expect(scene.staged.isEmpty)
    }
}
