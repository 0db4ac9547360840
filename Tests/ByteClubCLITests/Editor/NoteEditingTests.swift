import ByteClubCore
import CLinux
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct NoteEditingTests {
    private static let write: @Sendable (String) -> @Sendable (String, String) throws -> Int32 = { text in
        { _, path in
            try LocalFile.replace(path, with: Array(text.utf8))
            return 0
        }
    }

    private func drafts(_ world: World) -> Int {
        var count = 0
        guard let directory = unsafe opendir(world.directories.drafts) else { return 0 }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            if unsafe entry.pointee.d_type == UInt8(DT_DIR) { count += 1 }
        }
        return count - 2
    }

    @Test("what is to be done follows from the text before, the text after and the editor's end")
    func decision() {
        let base = ContentHasher.hash(Array("text".utf8))
        let decide = { (base: ContentHash?, after: String, code: Int32) in
            EditorDecision(base: base, after: Array(after.utf8), exitCode: code)
        }
        #expect(decide(base, "text", 0) == .unchanged)
        #expect(decide(base, "other", 0) == .save)
        #expect(decide(base, "", 0) == .emptied)
        #expect(decide(base, " \n\t\n", 0) == .emptied)
        #expect(decide(base, "other", 1) == .failed(1))
        #expect(decide(base, "text", 130) == .failed(130))
        #expect(decide(nil, "", 0) == .unchanged)
        #expect(decide(nil, "new", 0) == .save)
    }

    @Test("VISUAL beats EDITOR, unless the terminal is dumb, and vi is the last resort")
    func command() {
        #expect(Editor.command(environment: ["VISUAL": "a -w", "EDITOR": "b"]) == "a -w")
        #expect(Editor.command(environment: ["VISUAL": "a", "EDITOR": "b", "TERM": "dumb"]) == "b")
        #expect(Editor.command(environment: ["VISUAL": "", "EDITOR": ""]) == "vi")
    }

    @Test("an edit is saved and its draft is gone")
    func saved() async throws {
        let world = try World()
        try await world.put("old", "/byteclub/trip.md")
        let context = world.context(editor: Self.write("new"))
        #expect(await world.run("notes", "edit", "trip.md", in: context) == .success)
        #expect(world.out == "saved 'trip.md'\n")
        #expect(try await world.text("/byteclub/trip.md") == "new")
        #expect(drafts(world) == 0)
    }

    @Test("the editor opens a private file with the note's own name and text")
    func opens() async throws {
        let world = try World()
        try await world.put("old", "/byteclub/trip.md")
        let context = world.context(editor: { _, path in
            #expect(path.hasSuffix("/trip.md"))
            let text = try LocalFile.read(path)
            #expect(text == Array("old".utf8))
            var status = stat()
            let found = unsafe stat(LocalFile.parent(of: path), &status)
            #expect(found == 0 && status.st_mode & 0o777 == 0o700)
            return 0
        })
        #expect(await world.run("notes", "edit", "trip.md", in: context) == .success)
        #expect(world.out == "no changes\n")
        #expect(world.err.contains("--wait"))
        #expect(drafts(world) == 0)
    }

    @Test("a new note is made; leaving it empty makes none")
    func new() async throws {
        let world = try World()
        #expect(await world.run("notes", "edit", "a.md", in: world.context()) == .success)
        #expect(try await world.notes().isEmpty)
        #expect(await world.run("notes", "edit", "a.md", in: world.context(editor: Self.write("hi"))) == .success)
        #expect(try await world.text("/byteclub/a.md") == "hi")
    }

    @Test("an emptied note is not saved")
    func emptied() async throws {
        let world = try World()
        try await world.put("old", "/byteclub/trip.md")
        let context = world.context(editor: Self.write("\n"))
        #expect(await world.run("notes", "edit", "trip.md", in: context) == .badData)
        #expect(try await world.text("/byteclub/trip.md") == "old")
        #expect(drafts(world) == 0)
    }

    @Test("when somebody saved meanwhile both texts are on the server, and both names are told")
    func conflict() async throws {
        let world = try World()
        try await world.put("old", "/byteclub/trip.md")
        let server = MemoryRemote(sharing: world.server, author: 2)
        let context = world.context(editor: { _, path in
            try LocalFile.replace(path, with: Array("mine".utf8))
            let done = Signal()
            Task {
                _ = try await server.put(
                    .bytes(Array("theirs".utf8)), at: RemotePath("/byteclub/trip.md"), condition: .overwrite,
                    policy: .fail, progress: nil)
                done.raise()
            }
            done.wait()
            return 0
        })
        #expect(await world.run("notes", "edit", "trip.md", in: context) == .tryAgain)
        #expect(try await world.text("/byteclub/trip.md") == "theirs")
        let copy = try #require(try await world.notes().first { ConflictName.original(of: $0) == "trip.md" })
        #expect(copy.hasPrefix("trip (conflict 20"), "a token that is not stored is nobody's by name")
        #expect(try await world.text("/byteclub/" + copy) == "mine")
        #expect(world.out.contains("trip.md") && world.out.contains(copy))
        #expect(world.out.hasPrefix("Member 2 changed the same lines"))
        #expect(drafts(world) == 0)
    }

    @Test("edits of different lines are merged, on the version that the editor was given")
    func merged() async throws {
        let world = try World()
        let lines = (1...8).map { "line \($0)\n" }
        try await world.put(lines.joined(), "/byteclub/trip.md")
        let server = MemoryRemote(sharing: world.server, author: 2)
        let context = world.context(editor: { _, path in
            let text = String(decoding: try LocalFile.read(path), as: UTF8.self)
            try LocalFile.replace(path, with: Array(text.replacing("line 8", with: "mine").utf8))
            let done = Signal()
            Task {
                _ = try await server.put(
                    .bytes(Array(text.replacing("line 1", with: "theirs").utf8)), at: RemotePath("/byteclub/trip.md"),
                    condition: .overwrite, policy: .fail, progress: nil)
                done.raise()
            }
            done.wait()
            return 0
        })
        #expect(await world.run("notes", "edit", "trip.md", in: context) == .success)
        #expect(world.out == "saved 'trip.md', merged with changes by Member 2\n")
        let expected = ["theirs\n"] + lines[1..<7] + ["mine\n"]
        #expect(try await world.text("/byteclub/trip.md") == expected.joined())
        #expect(try await world.notes() == ["trip.md"])
        #expect(drafts(world) == 0)
    }

    @Test("when the server is down the text is kept, refused to be overwritten, and recovered")
    func recover() async throws {
        let world = try World()
        try await world.put("old", "/byteclub/trip.md")
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .put { throw RemoteError(.unreachable, "gone") }
        }
        let context = world.context(editor: Self.write("new"))
        #expect(await world.run("notes", "edit", "trip.md", in: context) == .unavailable)
        #expect(world.err.contains("--recover") && world.err.contains(world.directories.drafts))
        #expect(drafts(world) == 1)
        #expect(await world.run("notes", "edit", "trip.md", in: world.context(editor: Self.write("x"))) == .tryAgain)
        world.server.fault = nil
        #expect(await world.run("notes", "edit", "trip.md", "--recover") == .success)
        #expect(try await world.text("/byteclub/trip.md") == "new")
        #expect(drafts(world) == 0)
        #expect(await world.run("notes", "edit", "trip.md", "--recover") == .noInput)
    }

    @Test("an answer that is lost makes no conflict: the text is there already")
    func lostAnswer() async throws {
        let world = try World()
        try await world.put("old", "/byteclub/trip.md")
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .put, operation.moment == .after { throw RemoteError(.unreachable, "gone") }
        }
        #expect(
            await world.run("notes", "edit", "trip.md", in: world.context(editor: Self.write("new"))) == .unavailable)
        world.server.fault = nil
        #expect(await world.run("notes", "edit", "trip.md", "--recover") == .success)
        #expect(try await world.notes() == ["trip.md"])
        #expect(try await world.text("/byteclub/trip.md") == "new")
    }

    @Test("an editor that fails keeps the text, one that is missing says so")
    func editorFails() async throws {
        let world = try World()
        try await world.put("old", "/byteclub/trip.md")
        let failing = world.context(editor: { _, path in
            try LocalFile.replace(path, with: Array("half".utf8))
            return 1
        })
        #expect(await world.run("notes", "edit", "trip.md", in: failing) == .tryAgain)
        #expect(drafts(world) == 1)
        #expect(try await world.text("/byteclub/trip.md") == "old")
        #expect(await world.run("notes", "edit", "trip.md", "--discard") == .success)
        #expect(world.out == "deleted the text of an earlier edit of 'trip.md'\n")
        #expect(drafts(world) == 0)
        #expect(await world.run("notes", "edit", "trip.md", "--discard") == .noInput)
        let missing = world.context(editor: { _, _ in 127 })
        #expect(await world.run("notes", "edit", "trip.md", in: missing) == .configuration)
        #expect(drafts(world) == 0)
    }

    @Test("a note is free after its edit, also while a program that is just starting has the edit's handles")
    func freeAtOnce() async throws {
        let world = try World()
        try await world.put("old", "/byteclub/trip.md")
        let copies = Mutex<HandleCopy?>(nil)
        let context = world.context(editor: { _, path in
            copies.withLock { $0 = HandleCopy(path: LocalFile.parent(of: path) + ".lock") }
            try LocalFile.replace(path, with: Array("new".utf8))
            return 0
        })
        #expect(await world.run("notes", "edit", "trip.md", in: context) == .success)
        #expect(copies.withLock { $0 } != nil)
        #expect(await world.run("notes", "edit", "trip.md", in: world.context(editor: Self.write("newer"))) == .success)
    }

    @Test("two edits of one note at once: the second is refused")
    func lock() async throws {
        let world = try World()
        try await world.put("old", "/byteclub/trip.md")
        let inner = world.context()
        let context = world.context(editor: { _, _ in
            let done = Signal()
            let status = Status()
            Task {
                status.set(await ByteClub.run(["notes", "edit", "trip.md"], in: inner))
                done.raise()
            }
            done.wait()
            #expect(status.value == .tryAgain)
            return 0
        })
        #expect(await world.run("notes", "edit", "trip.md", in: context) == .success)
    }
}
