import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// What recovery keeps, removes and moves of what an engine has left in staging.
@Suite struct RecoveryTests {
    private static let staging = ".byteclub/staging/"

    /// A mirror that waits for a large photo.
    private final class Scene {
        let scene = MachineScene()
        let photo = noise(200_000, seed: 1)
        var hash: ContentHash { ContentHasher.hash(photo) }

        init() async throws {
            scene.disk.hasPaths = true
            scene.machine.configuration.schedule = try SyncSchedule(parsing: "pause")
            try await put(photo)
            try sync()
        }

        func put(_ photo: [UInt8]) async throws {
            _ = try await scene.server.put(
                .bytes(photo), at: RemotePath("/big.jpg"), condition: .overwrite, policy: .fail, progress: nil)
        }

        func sync() throws { _ = try scene.sync().get() }

        /// Lets large files travel from now on, in another engine.
        func restart() throws {
            scene.machine.configuration.schedule = try SyncSchedule(parsing: "unlimited")
            scene.restart()
        }

        /// The photo's item.
        var item: ItemID {
            get throws {
                try #require(scene.machine.database.trees.items.first { $0.remote?.hash == hash && !$0.isSettled }).id
            }
        }

        /// The folder of a content of an item in staging.
        func folder(_ item: ItemID, _ hash: ContentHash) -> String {
            RecoveryTests.staging + StagedName.downloading(item, hash).text
        }

        func recover(besides busy: Set<ItemID> = []) throws {
            let context = try scene.context()
            let local = LocalReplica(
                context, try ControlDirectory(in: context.root), Scanner(root: context.root, store: context.store))
            var report = SyncReport()
            try local.recover(besides: busy, &report)
        }

        private func files(below folder: String) -> [String] {
            scene.disk.tree(below: folder, includesPrivate: true).filter { $0.content != nil }.map(\.path)
        }

        var staged: [String] { files(below: ".byteclub/staging") }
        var trashed: [String] { files(below: ".byteclub/trash") }
    }

    @Test("what came of a content that is waited for stays, that of another goes, and only what is strange is trashed")
    func parts() async throws {
        let scene = try await Scene()
        let (item, disk) = (try scene.item, scene.scene.disk)
        let other = ContentHasher.hash([1])
        let kept = scene.folder(item, scene.hash)
        for folder in [kept, scene.folder(item, other), scene.folder(ItemID(999), scene.hash)] {
            disk.makeFolder(folder)
            for name in [".byteclub-ab12.part", "journal"] { disk.write(folder + "/" + name, "some of it") }
        }
        let staging = Self.staging
        disk.write(staging + ".byteclub-ab12.part", "an earlier version's")
        disk.write(staging + StagedName.writing(ItemID(998)).text, "worthless")
        disk.write(staging + "letter.md", "somebody's")
        try scene.recover()
        #expect(scene.staged == [kept + "/.byteclub-ab12.part", kept + "/journal"])
        #expect(disk.tree(below: ".byteclub/staging", includesPrivate: true).count == 3)
        #expect(scene.trashed.count == 1 && scene.trashed.first?.hasSuffix("/staging/letter.md") == true)
    }

    @Test("what an engine is at is left alone, whatever it is")
    func busy() async throws {
        let scene = try await Scene()
        let (item, disk) = (try scene.item, scene.scene.disk)
        let folder = scene.folder(item, ContentHasher.hash([1]))
        disk.makeFolder(folder)
        disk.write(folder + "/.byteclub-ab12.part", "some of it")
        let writing = Self.staging + StagedName.writing(item).text
        disk.write(writing, "some of it")
        try scene.recover(besides: [item])
        #expect(scene.staged == [folder + "/.byteclub-ab12.part", writing] && scene.trashed.isEmpty)
    }

    @Test("a large content that is whole and was not installed need not come again", arguments: [false, true])
    func whole(isExchanging: Bool) async throws {
        let scene = try await Scene()
        let item = try scene.item
        let name =
            isExchanging
            ? StagedName.exchanging(item, new: scene.hash, expected: ContentHasher.hash([1])) : .writing(item)
        scene.scene.disk.write(Self.staging + name.text, scene.photo)
        try scene.restart()
        try scene.sync()
        #expect(scene.scene.machine.network.downloaded == 0)
        #expect(scene.scene.disk.content("big.jpg") == scene.photo && scene.staged.isEmpty && scene.trashed.isEmpty)
    }

    @Test("a content that is whole and has another hash is not installed")
    func damaged() async throws {
        let scene = try await Scene()
        var photo = scene.photo
        photo[7] ^= 1
        scene.scene.disk.write(Self.staging + StagedName.writing(try scene.item).text, photo)
        try scene.restart()
        try scene.sync()
        #expect(scene.scene.machine.network.downloaded == photo.count)
        #expect(scene.scene.disk.content("big.jpg") == scene.photo && scene.staged.isEmpty && scene.trashed.isEmpty)
    }

    @Test("a download goes on where the engine was stopped dead, at the power's end too", arguments: [false, true])
    func stopped(afterPowerCut: Bool) async throws {
        let scene = try await Scene()
        let machine = scene.scene.machine
        try scene.restart()
        var pieces = 0
        machine.network.onPiece = {
            pieces += 1
            if pieces.isMultiple(of: 4) { machine.kill() }
        }
        for _ in 0..<3 {
            _ = try scene.scene.sync()
            #expect(machine.isDead && scene.trashed.isEmpty)
            scene.scene.restart(afterPowerCut: afterPowerCut)
        }
        machine.network.onPiece = {}
        try scene.sync()
        #expect(scene.scene.disk.content("big.jpg") == scene.photo && scene.staged.isEmpty && scene.trashed.isEmpty)
        // Without power, the name of the part may be gone.
        #expect(afterPowerCut || machine.network.downloaded == scene.photo.count)
    }

    @Test("what came of a photo goes when it is gone, or another by now", arguments: [false, true])
    func givenUp(isGone: Bool) async throws {
        let scene = try await Scene()
        let machine = scene.scene.machine
        try scene.restart()
        machine.network.onPiece = { machine.kill() }
        _ = try scene.scene.sync()
        #expect(!scene.staged.isEmpty)
        scene.scene.restart()
        machine.network.onPiece = {}
        let next = noise(180_000, seed: 2)
        if isGone {
            _ = try await scene.scene.server.delete(RemotePath("/big.jpg"), ifUnchangedSince: nil)
        } else {
            try await scene.put(next)
        }
        try scene.sync()
        #expect(scene.scene.disk.content("big.jpg") == (isGone ? nil : next))
        #expect(scene.staged.isEmpty && scene.trashed.isEmpty)
    }
}
