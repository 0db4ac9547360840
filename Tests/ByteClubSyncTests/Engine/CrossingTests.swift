import ByteClubCore
import MemoryRemote
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Entries that others move between what a mirror holds and what it does not.
@Suite struct CrossingTests {
    /// Why a place is not in the mirror.
    enum Kept: CaseIterable {
        case deselected, ignored, outside

        /// What the mirror has and has not, as the server names them.
        var inside: String { self == .outside ? "/club" : "" }
        var away: String {
            switch self {
            case .deselected: "/p"
            case .ignored: "/x.tmp"
            case .outside: "/elsewhere"
            }
        }
    }

    private static func scene(_ kept: Kept, _ usesExtension: Bool) async throws -> MachineScene {
        let scene = MachineScene(usesExtension: usesExtension)
        if kept == .outside {
            scene.machine.configuration.remoteRoot = try RemotePath("/club")
            _ = try await scene.server.createFolder(RemotePath("/club"))
        }
        if kept == .ignored { scene.disk.write(IgnoreRules.fileName, "*.tmp\n") }
        _ = try await scene.server.createFolder(RemotePath(kept.away))
        for folder in ["q", "q/deep"] { scene.disk.makeFolder(folder) }
        for path in ["a", "q/b", "q/deep/c"] { scene.disk.write(path, path) }
        try scene.settle()
        if kept == .deselected {
            try Selection([PathKey(folded: "/p")]).save(in: scene.machine.database)
            try scene.settle()
        }
        return scene
    }

    /// Moves all the files and folders as another member.
    private static func move(_ scene: MachineScene, from source: String, to target: String) async throws {
        for name in ["a", "q"] {
            _ = try await scene.server.move(RemotePath("\(source)/\(name)"), to: RemotePath("\(target)/\(name)"))
        }
    }

    private static func files(_ scene: MachineScene) -> [String: String] {
        scene.files.filter { $0.key != IgnoreRules.fileName }
    }

    @Test(
        "what is moved away goes from the disk, all of it, and comes back with all that is in it",
        arguments: Kept.allCases, [true, false])
    func awayAndBack(kept: Kept, usesExtension: Bool) async throws {
        let scene = try await Self.scene(kept, usesExtension)
        let all = ["a": "a", "q/b": "q/b", "q/deep/c": "q/deep/c"]
        #expect(Self.files(scene) == all)
        let before = try await scene.stored().count
        try await Self.move(scene, from: kept.inside, to: kept.away)
        try scene.settle()
        #expect(Self.files(scene) == [:])
        #expect(scene.disk.kind("q") == nil)
        #expect(try await scene.stored().count == before)
        _ = try await scene.server.put(
            .bytes(Array("new".utf8)), at: RemotePath("\(kept.away)/q/new"), condition: .create, policy: .fail,
            progress: nil)
        try scene.settle()
        #expect(Self.files(scene) == [:])
        try await Self.move(scene, from: kept.away, to: kept.inside)
        try scene.settle()
        #expect(Self.files(scene) == all.merging(["q/new": "new"]) { $1 })
        #expect(try await scene.stored().count == before + 1)
        #expect(scene.machine.database.trees.orphan(on: .local) == nil)
        #expect(scene.machine.database.trees.orphan(on: .remote) == nil)
    }

    @Test(
        "an edit of what is moved away is kept where it is", arguments: Kept.allCases, [true, false])
    func edited(kept: Kept, usesExtension: Bool) async throws {
        let scene = try await Self.scene(kept, usesExtension)
        scene.disk.write("a", "mine")
        scene.disk.write("q/b", "mine, too")
        scene.disk.write("q/new", "new")
        try await Self.move(scene, from: kept.inside, to: kept.away)
        try scene.settle()
        #expect(Self.files(scene) == ["a": "mine", "q/b": "mine, too", "q/new": "new"])
        let stored = try await scene.stored()
        let inside = String((kept.inside + "/").dropFirst())
        #expect(stored[inside + "a"] == "mine" && stored[inside + "q/b"] == "mine, too")
        #expect(stored[String(kept.away.dropFirst()) + "/a"] == "a")
    }

    @Test("a left-out folder that is made anew is left out", arguments: [true, false])
    func madeAnew(usesExtension: Bool) async throws {
        let scene = try await Self.scene(.deselected, usesExtension)
        _ = try await scene.server.delete(RemotePath("/p"), ifUnchangedSince: nil)
        try scene.settle()
        _ = try await scene.server.createFolder(RemotePath("/p"))
        try await scene.put("p/new", "new")
        try scene.settle()
        #expect(scene.disk.kind("p") == nil)
        _ = try await scene.server.move(RemotePath("/a"), to: RemotePath("/p/a"))
        try scene.settle()
        #expect(Self.files(scene) == ["q/b": "q/b", "q/deep/c": "q/deep/c"])
    }

    @Test("an edit right before a left-out folder's file goes stays where it is")
    func editedLast() async throws {
        let scene = try await Self.scene(.deselected, true)
        try Selection([PathKey(folded: "/q")]).save(in: scene.machine.database)
        scene.before(.rename, "q/b") { $0.disk.write("q/b", "mine") }
        try scene.settle()
        #expect(Self.files(scene) == ["a": "a", "q/b": "mine"])
        #expect(try await scene.stored()["q/b"] == "q/b")
        try Selection().save(in: scene.machine.database)
        try scene.settle()
        #expect(Set(scene.texts).isSuperset(of: ["mine", "q/b", "q/deep/c"]))
    }
}
