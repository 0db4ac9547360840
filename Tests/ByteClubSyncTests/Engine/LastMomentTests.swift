import ByteClubCore
import Glibc
import MemoryRemote
import Synchronization
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// What people, crashes and other members do between two calls of the engine, at the worst moment for each step of the
/// protocol by which nothing is lost.
@Suite struct LastMomentTests {
    @Test("an edit right before its file is replaced stays beside what replaced it")
    func editBeforeExchange() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        try await scene.put("a", "two")
        scene.before(.rename, "staging/x-") { $0.disk.write("a", "mine") }
        try scene.sync()
        try scene.settle()
        #expect(scene.texts == ["mine", "two"])
        #expect(try await scene.stored() == scene.files)
    }

    @Test("a file that is moved over new content right after that came is not taken for it", arguments: [1, 100])
    func movedOver(count: Int) async throws {
        let scene = try MachineScene.synced(["mine": "own"])
        for number in 0..<count { try await scene.put("\(number)", "theirs \(number)") }
        scene.disk.before = { [unowned scene] call in
            guard scene.disk.text("0") != nil else { return }
            scene.disk.before = nil
            scene.disk.move("mine", to: "0")
        }
        try scene.sync()
        try scene.settle()
        #expect(scene.texts.contains("own"))
        #expect(try await scene.stored() == scene.files)
    }

    @Test("what another puts into a folder while that is deleted is kept, also after a write of our own there")
    func putIntoDeletedFolder() async throws {
        let scene = MachineScene(usesExtension: false)
        scene.disk.makeFolder("p")
        let paths = (0..<12).map { "p/\($0)" }
        for path in paths + ["a"] { scene.disk.write(path, path) }
        try scene.settle()
        // Some are sent, and the others are found to be gone while the cycle goes on.
        for path in paths { scene.disk.write(path, "edited") }
        scene.wait()
        scene.atNextWrite { [unowned scene] in
            try? await scene.put("p/theirs", "theirs")
            scene.disk.delete("p")
        }
        try scene.sync()
        try scene.settle()
        #expect(scene.files.values.contains("theirs"))
        #expect(try await scene.stored().values.contains("theirs"))
    }

    @Test("an edit of the new content while that is taken back stays as well")
    func editOfNewContent() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        try await scene.put("a", "two")
        scene.before(.rename, "staging/x-") {
            $0.disk.write("a", "mine")
            $0.before(.rename, "staging/x-") { $0.disk.write("a", "two and mine") }
        }
        try scene.sync()
        try scene.settle()
        #expect(Set(scene.texts).isSuperset(of: ["mine", "two and mine"]))
    }

    @Test("an edit that leaves no trace in the file's times is seen before its file is replaced")
    func unseenEdit() async throws {
        let scene = MachineScene()
        scene.disk.granularity = 2_000_000_000
        scene.disk.time = 1_700_000_000_000_000_000
        scene.disk.write("a", "one")
        try scene.sync()
        try await scene.put("a", "two")
        scene.before(.rename, "staging/x-") { $0.disk.write("a", "own") }
        try scene.sync()
        try scene.settle()
        #expect(scene.texts == ["own", "two"])
    }

    @Test("a file made right before another one comes under its name stays")
    func creation() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        try await scene.put("new", "theirs")
        scene.before(.rename, "staging/w-") { $0.disk.write("new", "mine") }
        try scene.sync()
        try scene.settle()
        #expect(scene.texts == ["mine", "one", "theirs"])
    }

    @Test("a file that somebody is writing is not replaced before it is closed")
    func writing() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        let writer = try #require(scene.disk.openForWriting("a"))
        try await scene.put("a", "two")
        try scene.sync()
        #expect(scene.disk.text("a") == "one")
        writer.close()
        try scene.settle()
        #expect(scene.disk.text("a") == "two")
    }

    @Test("what is written to a file after it was replaced stands beside the new one")
    func lateWriter() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        scene.disk.knowsWriters = false
        let writer = try #require(scene.disk.openForWriting("a"))
        try await scene.put("a", "two")
        try scene.sync()
        #expect(scene.disk.text("a") == "two")
        scene.wait()
        try scene.sync()
        writer.write("late")
        writer.close()
        try scene.settle()
        #expect(scene.texts == ["late", "two"])
    }

    @Test(
        "an edit after a write whose answer was lost is no conflict with that write, nor when the server is gone then",
        arguments: [false, true])
    func lostAnswer(isGoneThen: Bool) async throws {
        let scene = try MachineScene.synced(["a": "one"])
        let isFirst = Mutex(true)
        scene.member.fault = { [unowned scene] operation throws(RemoteError) in
            if isFirst.withLock({ $0 }) {
                guard operation.kind == .apply, operation.moment == .after else { return }
                isFirst.withLock { $0 = false }
                scene.disk.write("a", "later")
            } else if !isGoneThen {
                return
            }
            throw RemoteError(.unreachable, "the answer was lost")
        }
        scene.disk.write("a", "mine")
        scene.wait()
        try scene.sync()
        scene.member.fault = nil
        try scene.settle()
        #expect(scene.texts == ["later"])
        #expect(try await scene.stored() == ["a": "later"])
    }

    @Test("a folder that a sync made, and somebody deleted at once, is deleted on the server")
    func madeAndDeleted() async throws {
        let scene = MachineScene()
        scene.disk.makeFolder("p")
        scene.disk.write("p/a", "one")
        try scene.settle()
        _ = try await scene.server.createFolder(RemotePath("/p/d"))
        try scene.sync()
        #expect(scene.disk.delete("p/d"))
        try scene.settle()
        #expect(try await scene.stored() == ["p/": "", "p/a": "one"])
    }

    @Test("a folder that a sync moved, and somebody moved back at once, is moved back on the server")
    func movedAndMovedBack() async throws {
        let scene = MachineScene()
        for folder in ["p", "p/d", "q"] { scene.disk.makeFolder(folder) }
        try scene.settle()
        _ = try await scene.server.move(RemotePath("/p/d"), to: RemotePath("/q/d"))
        try scene.sync()
        #expect(scene.disk.move("q/d", to: "p/d"))
        try scene.settle()
        #expect(try await scene.stored() == ["p/": "", "p/d/": "", "q/": ""])
    }

    @Test("an edit right before its file is deleted cancels the deletion")
    func editBeforeDeletion() async throws {
        let scene = try MachineScene.synced(["a": "one", "b": "other"])
        _ = try await scene.server.delete(RemotePath("/a"), ifUnchangedSince: nil)
        scene.before(.rename, "a") { $0.disk.write("a", "mine") }
        try scene.sync()
        try scene.settle()
        #expect(scene.files == ["a": "mine", "b": "other"])
        #expect(try await scene.stored() == scene.files)
    }

    @Test("a file that takes a name right before the entry of that name is moved stays where it is")
    func replacedBeforeMove() async throws {
        let scene = try MachineScene.synced(["a": "one", "c": "another"])
        _ = try await scene.server.move(RemotePath("/a"), to: RemotePath("/b"))
        scene.before(.rename, "a") {
            $0.disk.move("a", to: "kept")
            $0.disk.move("c", to: "a")
        }
        try scene.sync()
        try scene.settle()
        #expect(scene.files == ["a": "another", "b": "one"])
    }

    @Test("an edit that stands in staging when the engine is stopped goes back to its place")
    func crashAfterExchange() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        try await scene.put("a", "two")
        scene.before(.rename, "staging/x-") {
            $0.disk.write("a", "mine")
            $0.stopAfterThis()
        }
        try scene.sync()
        #expect(scene.disk.text("a") == "two")
        scene.restart()
        try scene.settle()
        #expect(scene.texts == ["mine", "two"])
    }

    @Test("an edit that is on its way to the trash when the engine is stopped goes back to its place")
    func crashAfterDeletion() async throws {
        let scene = try MachineScene.synced(["a": "one", "b": "other"])
        _ = try await scene.server.delete(RemotePath("/a"), ifUnchangedSince: nil)
        scene.before(.rename, "a") {
            $0.disk.write("a", "mine")
            $0.stopAfterThis()
        }
        try scene.sync()
        #expect(scene.disk.text("a") == nil)
        scene.restart()
        try scene.settle()
        #expect(scene.files == ["a": "mine", "b": "other"])
    }

    @Test(
        "an edit that stands in staging is no part of a folder that is deleted meanwhile", arguments: [true, false])
    func deletedAround(stopsEngine: Bool) async throws {
        let scene = MachineScene()
        scene.disk.makeFolder("p")
        for (path, text) in [("p/a", "one"), ("b", "other")] { scene.disk.write(path, text) }
        try scene.settle()
        _ = try await scene.server.delete(RemotePath("/p/a"), ifUnchangedSince: nil)
        scene.before(.rename, "p/a") { scene in
            scene.disk.write("p/a", "mine")
            if stopsEngine { return scene.stopAfterThis() }
            scene.disk.failure = { [unowned scene] call in
                guard call.verb == .rename, call.path.contains("staging/l-") else { return nil }
                scene.disk.failure = nil
                scene.disk.delete("p")
                return EIO
            }
        }
        try scene.sync()
        if stopsEngine {
            scene.disk.delete("p")
            scene.restart()
        }
        #expect(scene.disk.text("p/a") == nil)
        try scene.settle()
        #expect(scene.texts == ["mine", "other"])
        #expect(try await scene.stored().values.contains("mine"))
    }

    @Test("content that came to its place before the engine was stopped is no edit")
    func arrivedBeforeCrash() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        try await scene.put("a", "two")
        scene.before(.rename, "staging/x-") { $0.stopAfterThis() }
        try scene.sync()
        #expect(scene.disk.text("a") == "two")
        try await scene.put("a", "three")
        scene.restart()
        try scene.settle()
        #expect(scene.files == ["a": "three"])
    }

    @Test("edits of different lines are merged, upon whatever the server has by then")
    func merge() async throws {
        let scene = try MachineScene.synced(["a": "1\n2\n3\n4\n5\n"])
        try await scene.put("a", "1 theirs\n2\n3\n4\n5\n")
        scene.disk.write("a", "1\n2\n3 mine\n4\n5\n")
        scene.atNextWrite { [server = scene.server] in
            _ = try? await server.put(
                .bytes(Array("1 theirs\n2\n3\n4\n5 last\n".utf8)), at: RemotePath("/a"), condition: .overwrite,
                policy: .fail, progress: nil)
        }
        try scene.sync()
        try scene.settle()
        #expect(scene.files == ["a": "1 theirs\n2\n3 mine\n4\n5 last\n"])
        #expect(try await scene.stored() == scene.files)
    }

    @Test("a folder that comes to the path of a file right before that is moved is not taken for it")
    func folderInPlace() async throws {
        let scene = MachineScene(usesExtension: false)
        for path in ["a", "b"] { scene.disk.write(path, path) }
        try scene.settle()
        scene.disk.move("a", to: "mine")
        scene.atNextWrite { [server = scene.server] in
            _ = try? await server.move(RemotePath("/a"), to: RemotePath("/theirs"))
            _ = try? await server.createFolder(RemotePath("/a"))
        }
        try scene.sync()
        try scene.settle()
        #expect(Set(scene.texts) == ["a", "b"])
        let stored = try await scene.stored()
        #expect(stored.filter { !$0.key.hasSuffix("/") } == scene.files)
    }

    @Test("an answer that tells of a folder says nothing of the file that was to be moved")
    func folderInAnswer() async throws {
        let scene = try MachineScene.synced(["a": "one"], usesExtension: false)
        let folder = try await scene.server.createFolder(RemotePath("/b"))
        let file = try #require(scene.machine.database.trees.items.first?.id)
        let move = OutgoingWrite(item: file, effect: .move(Location(.root, EntryName("b"))), local: nil)
        var report = SyncReport()
        try PathReplica(scene.remoteTree(), hasLongPoll: true).take(move, folder, &report)
        #expect(scene.machine.database.trees.items.first?.remote?.isFolder == false)
        try scene.settle()
        #expect(try await scene.stored() == ["a": "one", "b/": ""])
    }

    @Test("of two moves the one stands that the server took first")
    func moves() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        scene.disk.move("a", to: "mine")
        scene.atNextWrite { [server = scene.server] in
            _ = try? await server.move(RemotePath("/a"), to: RemotePath("/theirs"))
        }
        try scene.sync()
        try scene.settle()
        #expect(scene.files == ["theirs": "one"])
        #expect(try await scene.stored() == scene.files)
    }

    @Test("what is deleted in a folder right before that is moved is gone from it", arguments: [true, false])
    func deletionBeforeMove(usesExtension: Bool) async throws {
        let scene = MachineScene(usesExtension: usesExtension)
        scene.disk.makeFolder("old")
        for name in ["a", "b"] { scene.disk.write("old/" + name, name) }
        try scene.settle()
        scene.disk.move("old", to: "new")
        scene.atNextWrite { [server = scene.server] in
            _ = try? await server.delete(RemotePath("/old/a"), ifUnchangedSince: nil)
        }
        try scene.sync()
        try scene.settle()
        #expect(scene.files == ["new/b": "b"])
        #expect(try await scene.stored() == ["new/": "", "new/b": "b"])
    }

    @Test(
        "what is moved out of a folder right before that is deleted comes with all that is in it",
        arguments: [true, false])
    func moveBeforeDeletion(usesExtension: Bool) async throws {
        let scene = MachineScene(usesExtension: usesExtension)
        scene.disk.makeFolder("old")
        scene.disk.makeFolder("old/inner")
        scene.disk.makeFolder("old/inner/deep")
        for name in ["a", "inner/b", "inner/deep/c"] { scene.disk.write("old/" + name, name) }
        try scene.settle()
        scene.disk.delete("old")
        scene.atNextWrite { [server = scene.server] in
            _ = try? await server.move(RemotePath("/old/inner"), to: RemotePath("/moved"))
        }
        try scene.sync()
        try scene.settle()
        #expect(scene.files == ["moved/b": "inner/b", "moved/deep/c": "inner/deep/c"])
        #expect(
            try await scene.stored()
                == ["moved/": "", "moved/b": "inner/b", "moved/deep/": "", "moved/deep/c": "inner/deep/c"])
    }

    @Test("an answer that comes after the journal has told of a later edit is not the last word")
    func overtaken() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        scene.disk.write("a", "mine")
        scene.wait()
        scene.overtakeAnswer(with: ["a": "theirs"], inPart: false)
        try scene.sync()
        try scene.settle()
        #expect(scene.disk.text("a") == "theirs")
        #expect(try await scene.stored() == scene.files)
    }

    @Test("an answer that comes when the journal has told a part of what came after it is not the last word")
    func overtakenInPart() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        scene.disk.move("a", to: "b")
        scene.wait()
        scene.overtakeAnswer(with: ["b": "theirs b", "c": "theirs c", "d": "theirs d"], inPart: true)
        try scene.sync()
        try scene.settle()
        #expect(scene.files == ["b": "theirs b", "c": "theirs c", "d": "theirs d"])
        #expect(try await scene.stored() == scene.files)
    }

    @Test("a folder made here, taken for another's that came to its place and went on, stands for that one alone")
    func folderThatWentOn() async throws {
        let scene = MachineScene()
        try scene.sync()
        scene.disk.makeFolder("q")
        scene.wait()
        scene.atNextWrite { [server = scene.server] in
            _ = try? await server.createFolder(RemotePath("/q"))
            await scene.deliverNews()
            _ = try? await server.move(RemotePath("/q"), to: RemotePath("/theirs"))
            await scene.deliverNews()
        }
        try scene.sync()
        try await scene.put("theirs/a", "theirs")
        try scene.settle()
        #expect(scene.files == ["theirs/a": "theirs"])
        #expect(try await scene.stored() == ["q/": "", "theirs/": "", "theirs/a": "theirs"])
    }

    @Test("what is told in one answer with what the tree has read meanwhile is read as well")
    func reportedTogether() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        let waited = try #require(scene.machine.database.meta(.cursor))
        try await scene.put("b", "two")
        try scene.sync()
        #expect(scene.disk.text("b") == "two")
        try await scene.put("c", "three")
        let answer = try await scene.server.journal(after: waited, limit: 10, contents: .all, wait: .zero)
        #expect(answer.page.entries.count == 2)
        let replica = try JournalReplica(
            scene.remoteTree(), scene.machine.network, OperationIDs(mirror: "00000000", at: 1), sendsManyChunks: true)
        var report = SyncReport()
        try replica.ingest(answer, after: waited, &report)
        #expect(report.feedDoubt == .incompletePage)
    }

    @Test("what stands on a later page of the server's whole state is not gone meanwhile")
    func laterPage() async throws {
        let scene = try MachineScene.synced(
            Dictionary((10..<30).map { ("\($0)", "text \($0)") }, uniquingKeysWith: { $1 }))
        for number in 10..<30 { scene.disk.write("\(number)", "edit \(number)") }
        scene.machine.database.setMeta(.cursor, nil)
        try scene.settle()
        #expect(scene.files.count == 20)
        #expect(try await scene.stored() == scene.files)
    }

    @Test("what changes while it is read is not sent")
    func readWhileWritten() async throws {
        let scene = MachineScene()
        try scene.sync()
        scene.disk.write("a", "half")
        scene.wait()
        scene.before(.open, "a") {
            $0.before(.read) { $0.before(.statFile) { $0.disk.write("a", "the whole") } }
        }
        try scene.sync()
        try scene.settle()
        #expect(try await scene.stored() == ["a": "the whole"])
        #expect(try await scene.server.revisions(of: RemotePath("/a"), limit: 5).count == 1)
    }

    @Test("content that was cut short on the way never comes to the disk")
    func cutShort() async throws {
        let scene = MachineScene(usesExtension: false)
        try await scene.put("a", "the whole text")
        scene.machine.network.distort = { [unowned scene] bytes in
            scene.machine.network.distort = { $0 }
            return Array(bytes.prefix(5))
        }
        scene.disk.before = { [unowned scene] _ in #expect([nil, "the whole text"].contains(scene.disk.text("a"))) }
        try scene.sync()
        try scene.settle()
        #expect(scene.files == ["a": "the whole text"])
    }

    @Test("the disk's last bytes are left free")
    func room() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        try await scene.put("b", "two")
        scene.disk.space = scene.machine.configuration.diskReserve
        try scene.sync()
        #expect(scene.files == ["a": "one"])
        scene.disk.space += 1_000
        try scene.settle()
        #expect(scene.files == ["a": "one", "b": "two"])
    }

    @Test("a mirror that is gone while its engine runs ends the sync, and nothing is deleted")
    func unmounted() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        scene.disk.mount = .empty
        let error = #expect(throws: SyncError.self) { try scene.sync().get() }
        #expect(error?.code == .rootReplaced)
        scene.disk.mount = .mounted
        try scene.settle()
        #expect(try await scene.stored() == ["a": "one"])
    }

    @Test("every content that was replaced on one day is in the trash")
    func trash() async throws {
        let scene = try MachineScene.synced(["a": "one"])
        for text in ["two", "three"] {
            try await scene.put("a", text)
            try scene.settle()
        }
        let trash = scene.disk.tree(below: ".byteclub/trash", includesPrivate: true).compactMap(\.content)
        #expect(trash.map { String(decoding: $0, as: UTF8.self) }.sorted() == ["one", "two"])
    }

    @Test("many small deletions one after the other are held like one large one")
    func deletions() async throws {
        let names = (10..<50).map { "\($0)" }
        let scene = try MachineScene.synced(Dictionary(names.map { ($0, "text " + $0) }, uniquingKeysWith: { $1 }))
        scene.machine.configuration.approvesDeletions = false
        // The guard is of the engine that runs.
        scene.restart()
        var held: [Int] = []
        for start in [0, 8, 16] {
            for name in names[start..<start + 8] { scene.disk.delete(name) }
            held.append(try scene.sync().get().held)
        }
        #expect(held == [0, 0, 8])
        #expect(try await scene.stored().count == 24)
    }

    @Test("a large file that is written while it is sent is sent as it is then")
    func largeFile() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        device.write("a.jpg", String(repeating: "a", count: 200_000))
        let isFirst = Mutex(true)
        device.remote.fault = { [unowned device] operation throws(RemoteError) in
            guard operation.kind == .putChunks, operation.moment == .after else { return }
            if isFirst.withLock({ $0.take() }) {
                device.write("a.jpg", String(repeating: "b", count: 200_000))
            }
        }
        try await device.sync()
        try await device.sync()
        #expect(try await remote.text("a.jpg") == String(repeating: "b", count: 200_000))
        #expect(try await remote.revisions(of: RemotePath("/byteclub/a.jpg"), limit: 5).count == 1)
    }
}

extension Bool {
    /// What it was; false from now on.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}

extension MachineScene {
    /// Lets another member do something right before the engine's next write reaches the server.
    func atNextWrite(_ work: @escaping @Sendable () async -> Void) {
        let isFirst = Mutex(true)
        member.fault = { operation async throws(RemoteError) in
            guard operation.kind.isWriting, operation.moment == .before else { return }
            if isFirst.withLock({ $0.take() }) { await work() }
        }
    }

    /// Once, before the answer to a batch comes, another member writes files, and the journal tells of that; in part,
    /// of the first of them alone.
    func overtakeAnswer(with texts: KeyValuePairs<String, String>, inPart: Bool) {
        let isFirst = Mutex(true)
        member.fault = { [unowned self] operation async throws(RemoteError) in
            guard operation.kind == .apply, operation.moment == .after, isFirst.withLock({ $0.take() }),
                machine.session != nil
            else { return }
            for (path, text) in texts { try? await put(path, text) }
            #expect(await deliverNews(limit: inPart ? 1 : 10) == inPart)
        }
    }

    /// Tells the engine what the journal has, between two of its steps; whether there is more.
    @discardableResult
    func deliverNews(limit: Int = 10) async -> Bool? {
        guard machine.session != nil, let cursor = machine.database.meta(.cursor),
            let changes = try? await server.journal(after: cursor, limit: limit, contents: .all, wait: .zero)
        else { return nil }
        machine.inbox.post(.polled(.page(changes, after: cursor)))
        return changes.page.hasMore
    }
}
