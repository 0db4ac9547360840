import ByteClubCore
import FoundationEssentials
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct NotesCommandTests {
    private static let terminal = Terminal(
        isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { 40 })

    @Test("notes list prints name, size and date; a pipe gets tabs, JSON one object for each")
    func list() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/Trip 10.md")
        try await world.put("x", "/byteclub/photos/ridge.jpg")
        try await world.put(String(repeating: "a", count: 2048), "/byteclub/trip 2 with a very long name.md")
        let terminal = world.context(terminal: Self.terminal)
        #expect(await world.run("notes", "list", in: terminal) == .success)
        #expect(
            world.out == """
                \u{1B}[1mNAME              SIZE  CHANGED\u{1B}[0m
                trip 2…ame.md  2.0 KiB  2013-08-06 09:15
                Trip 10.md     5 bytes  2013-08-06 09:15

                """)
        #expect(world.connections.count == 1)
        #expect(await world.run("notes", "list") == .success)
        #expect(
            world.out == """
                trip 2 with a very long name.md\t2048\t2013-08-06T09:15:00Z
                Trip 10.md\t5\t2013-08-06T09:15:00Z

                """)
        #expect(await world.run("notes", "list", "--json", "--sort", "size", "--reverse") == .success)
        let listed = try JSONDecoder().decode([Listed].self, from: Data(world.outBytes))
        let hash = ContentHasher.hash(Array("hello".utf8)).description
        #expect(listed.map(\.name) == ["Trip 10.md", "trip 2 with a very long name.md"])
        let first = try #require(listed.first)
        #expect(first.path == "/byteclub/Trip 10.md" && first.type == "file" && first.size == 5 && first.hash == hash)
        #expect(first.modified == "2013-08-06T09:15:00Z" && first.rev != nil && first.deleted == nil)
    }

    private struct Listed: Decodable {
        var name: String
        var path: String
        var type: String
        var size: Int64
        var count: Int?
        var modified: String?
        var rev: String?
        var hash: String?
        var deleted: Bool?
    }

    @Test("a folder is listed, with those in it, and so is what was removed")
    func folders() async throws {
        let world = try World()
        for path in ["a.md", "Trips/b.md", "Trips/2026/c.md", "photos/d.jpg"] {
            try await world.put("1", "/byteclub/" + path)
        }
        _ = try await world.server.createFolder(RemotePath("/byteclub/Empty"))
        let names = { world.out.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) } }
        // Without options nothing is parsed, and the rest is the same.
        #expect(await world.run("notes", "list") == .success)
        #expect(names() == ["Empty/", "Trips/", "a.md"])
        #expect(await world.run("notes", "list", "--sort", "date", "--limit", "1") == .success)
        #expect(names() == ["Empty/", "Trips/", "a.md"])
        #expect(await world.run("notes", "list", "--reverse") == .success)
        #expect(names() == ["Trips/", "Empty/", "a.md"])
        #expect(await world.run("notes", "list", "Trips") == .success)
        #expect(names() == ["Trips/2026/", "Trips/b.md"])
        #expect(await world.run("notes", "list", "--recursive") == .success)
        #expect(names() == ["a.md", "Trips/2026/c.md", "Trips/b.md"])
        #expect(await world.run("notes", "list", "--recursive", "--limit", "1") == .success)
        #expect(names() == ["a.md"])
        #expect(await world.run("notes", "list", "Nowhere") == .noInput)
        _ = try await world.server.delete(RemotePath("/byteclub/Trips"), ifUnchangedSince: nil)
        #expect(await world.run("notes", "rm", "a.md") == .success)
        #expect(await world.run("notes", "list", "--deleted") == .success)
        #expect(names() == ["a.md", "Trips/"])
        #expect(await world.run("notes", "list", "--deleted", "--recursive") == .success)
        #expect(names() == ["a.md", "Trips/2026/c.md", "Trips/b.md"])
        #expect(world.out.contains("\tdeleted\t"))
    }

    @Test("a removed note in a folder comes back by its path, without naming the version")
    func restoreInFolder() async throws {
        let world = try World()
        try await world.put("one", "/byteclub/Trips/2026/a.md")
        #expect(await world.run("notes", "restore", "Trips/2026/a.md") == .usage)
        #expect(await world.run("notes", "rm", "Trips/2026/a.md") == .success)
        #expect(world.out == "removed 'Trips/2026/a.md'\n")
        #expect(await world.run("notes", "history", "/byteclub/Trips/2026/a.md") == .success)
        #expect(world.out.split(separator: "\n").count == 2)
        #expect(await world.run("notes", "restore", "Trips/2026/a.md") == .success)
        #expect(world.out == "restored 'Trips/2026/a.md'\n")
        #expect(await world.run("notes", "show", "Trips/2026/a.md") == .success)
        #expect(world.out == "one")
    }

    @Test("a folder tells how many notes are below it, unless one request does not tell")
    func counts() async throws {
        let world = try World()
        for path in ["a.md", "Trips/b.md", "Trips/2026/c.md", "trips/d.jpg", "Old/e.md", "photos/x/f.jpg"] {
            try await world.put("1", "/byteclub/" + path)
        }
        _ = try await world.server.createFolder(RemotePath("/byteclub/Empty"))
        _ = try await world.server.delete(RemotePath("/byteclub/Old/e.md"), ifUnchangedSince: nil)
        let terminal = world.context(terminal: Self.terminal)
        #expect(await world.run("notes", "list", in: terminal) == .success)
        #expect(
            world.out == """
                \u{1B}[1mNAME       SIZE  CHANGED\u{1B}[0m
                Empty/  0 notes
                Old/    0 notes
                Trips/  3 notes
                a.md    1 bytes  2013-08-06 09:15

                """)
        #expect(await world.run("notes", "list", "--json") == .success)
        let listed = try JSONDecoder().decode([Listed].self, from: Data(world.outBytes))
        #expect(listed.map(\.type) == ["folder", "folder", "folder", "file"])
        #expect(listed.map(\.count) == [0, 0, 3, nil])
        let calls = Mutex(0)
        world.server.fault = { operation throws(RemoteError) in
            guard operation.moment == .before else { return }
            calls.withLock { $0 += 1 }
            if operation.kind == .delta { throw RemoteError(.badRequest, "this server has none") }
        }
        #expect(await world.run("notes", "list", in: terminal) == .success)
        #expect(world.out.contains("\nTrips/\n") && calls.withLock { $0 } == 2, "\(world.out)")
        // Without a terminal there are no counts, and no request for them.
        #expect(await world.run("notes", "list") == .success)
        #expect(world.out.contains("Trips/\t\t\n") && calls.withLock { $0 } == 3, "\(world.out)")
    }

    @Test("photos are no notes, the notes beside them are")
    func notesBesidePhotos() async throws {
        let world = try World()
        for path in ["photos/a.jpg", "photos/b.png", "photos/a.jpg.md", "photos/Trip/c.jpg", "Trips/d.jpg"] {
            try await world.put("1", "/byteclub/" + path)
        }
        #expect(await world.run("notes", "list", "photos") == .success)
        let names = world.out.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
        #expect(names == ["photos/Trip/", "photos/a.jpg.md"])
        let terminal = world.context(terminal: Self.terminal)
        #expect(await world.run("notes", "list", "photos/Trip", in: terminal) == .success)
        #expect(world.out.isEmpty && world.err.contains("'byteclub photos list'"), "\(world.err)")
        #expect(await world.run("notes", "list", "photos", "-r") == .success)
        #expect(world.out.hasPrefix("photos/a.jpg.md\t") && world.out.split(separator: "\n").count == 1)
    }

    @Test("an empty list or search says so on a terminal, beside the result, and nothing in a pipe")
    func emptyLists() async throws {
        let world = try World()
        _ = try await world.server.createFolder(RemotePath("/byteclub"))
        for command in [
            ["notes", "list"], ["notes", "list", "--deleted"], ["notes", "search", "x"], ["photos", "list"],
            ["photos", "list", "--deleted"],
        ] {
            let told = try World()
            _ = try await told.server.createFolder(RemotePath("/byteclub"))
            #expect(await ByteClub.run(command, in: told.context(terminal: Self.terminal)) == .success)
            #expect(told.out.isEmpty && told.err.split(separator: "\n").count == 1, "\(command): \(told.err)")
            #expect(await ByteClub.run(command, in: world.context()) == .success)
            #expect(world.out.isEmpty && world.err.isEmpty)
        }
        // Notes in folders do not make the list itself non-empty.
        try await world.put("1", "/byteclub/Trips/2026/b.md")
        try await world.put("1", "/byteclub/photos/Trip/b.jpg")
        let terminal = world.context(terminal: Self.terminal)
        for command in [["notes", "list"], ["notes", "list", "Trips"], ["photos", "list"]] {
            #expect(await ByteClub.run(command, in: terminal) == .success)
            #expect(world.err.isEmpty, "\(command): \(world.err)")
        }
        #expect(await world.run("notes", "list", "--deleted", in: terminal) == .success)
        #expect(world.err.contains("--recursive lists folders"), "\(world.err)")
    }

    @Test("a new club has no notes")
    func empty() async throws {
        let world = try World()
        #expect(await world.run("notes", "list") == .success)
        #expect(world.out.isEmpty)
        #expect(await world.run("notes", "list", "--json") == .success)
        #expect(world.out == "[\n\n]\n")
    }

    @Test("a note comes back byte for byte")
    func bytes() async throws {
        let world = try World()
        let text = "a\r\n\u{0}é no line end"
        #expect(await world.run("notes", "add", "odd.md", in: world.context(input: text)) == .success)
        #expect(await world.run("notes", "show", "odd.md") == .success)
        #expect(world.outBytes == Array(text.utf8))
    }

    @Test("add leaves a note alone that is there, unless it is forced")
    func add() async throws {
        let world = try World()
        try await world.put("first", "/byteclub/trip.md")
        #expect(await world.run("notes", "add", "trip.md", in: world.context(input: "second")) == .cannotCreate)
        #expect(try await world.text("/byteclub/trip.md") == "first")
        let forced = world.context(input: "second")
        #expect(await world.run("notes", "add", "trip.md", "--force", in: forced) == .success)
        #expect(world.out == "replaced 'trip.md'\n")
        #expect(try await world.text("/byteclub/trip.md") == "second")
    }

    @Test("add reads a file, and says when it cannot")
    func addFile() async throws {
        let world = try World()
        let file = world.home.path + "/n.txt"
        try LocalFile.replace(file, with: Array("from a file".utf8))
        #expect(await world.run("notes", "add", "n.txt", file) == .success)
        #expect(try await world.text("/byteclub/n.txt") == "from a file")
        #expect(await world.run("notes", "add", "m.txt", file + "x") == .noInput)
        #expect(await world.run("notes", "add", "m.txt", world.home.path) == .badData)
        #expect(try await world.notes() == ["n.txt"])
    }

    @Test(
        "a name that cannot be is one line and code 65, and nothing is sent",
        arguments: [
            "a//..", "..", ".", "/other/a.md", "", String(repeating: "n", count: 300), "a\u{1}b", "a\\b", "photos",
            "Photos",
            ".DS_Store",
        ])
    func names(_ name: String) async throws {
        let world = try World()
        for command in [["show"], ["add"], ["rm"], ["edit"], ["history"]] {
            #expect(await ByteClub.run(["notes"] + command + ["--", name], in: world.context(input: "x")) == .badData)
        }
        #expect(world.connections.isEmpty)
        #expect(world.out.isEmpty)
        #expect(world.err.split(separator: "\n").count == 5)
        #expect(world.err.split(separator: "\n").allSatisfy { $0.hasPrefix("byteclub: ") && $0.utf8.count < 200 })
    }

    @Test(
        "what is not there is code 66",
        arguments: [
            ["show", "x"], ["rm", "x"], ["history", "x"], ["restore", "x", "100000001"], ["restore", "y", "first"],
            ["show", "y", "--rev", "first"],
        ])
    func missing(_ arguments: [String]) async throws {
        let world = try World()
        try await world.put("y", "/byteclub/y")
        #expect(await ByteClub.run(["notes"] + arguments, in: world.context()) == .noInput)
        #expect(world.err.split(separator: "\n").count == 1)
    }

    @Test("a removed note comes back from its history")
    func history() async throws {
        let world = try World()
        let first = try await world.put("one", "/byteclub/a.md")
        try await world.put("two", "/byteclub/a.md")
        #expect(await world.run("notes", "rm", "a.md") == .success)
        #expect(world.out == "removed 'a.md'\n")
        #expect(try await world.text("/byteclub/a.md") == nil)
        #expect(await world.run("notes", "history", "a.md") == .success)
        #expect(world.out.split(separator: "\n").count == 3)
        #expect(world.out.contains("deleted"))
        #expect(world.out.split(separator: "\n").allSatisfy { $0.hasSuffix("\tMember 1") })
        #expect(await world.run("notes", "history", "a.md", "--json") == .success)
        #expect(world.out.split(separator: "\n").count { $0.contains(#""author" : "Member 1""#) } == 3)
        let version = try #require(first.rev).description
        #expect(await world.run("notes", "show", "a.md", "--rev", version) == .success)
        #expect(world.out == "one")
        #expect(await world.run("notes", "restore", "a.md", version) == .success)
        #expect(try await world.text("/byteclub/a.md") == "one")
    }

    @Test("rm goes on after a failure, tells it, and ends with 75")
    func removeSome() async throws {
        let world = try World()
        try await world.put("1", "/byteclub/a")
        try await world.put("2", "/byteclub/b")
        #expect(await world.run("notes", "rm", "a", "missing", "b") == .tryAgain)
        #expect(world.out == "removed 'a'\nremoved 'b'\n")
        #expect(world.err.contains("missing"))
        #expect(try await world.notes().isEmpty)
    }

    @Test("rm ends when the server goes away, tells how many are left, and ends with 75 when some were removed")
    func removeUntilGone() async throws {
        let world = try World()
        for name in ["a", "b", "c"] { try await world.put("1", "/byteclub/" + name) }
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .delete, operation.path?.name == "b" { throw RemoteError(.unreachable, "gone") }
        }
        #expect(await world.run("notes", "rm", "b", "c") == .unavailable)
        #expect(world.err == "byteclub: gone; 2 notes were not removed\n")
        #expect(await world.run("notes", "rm", "a", "b", "c") == .tryAgain)
        #expect(world.out == "removed 'a'\n" && world.err == "byteclub: gone; 2 notes were not removed\n")
    }

    @Test("search finds notes by the words of their names, and no photos")
    func search() async throws {
        let world = try World()
        try await world.put("1", "/byteclub/Trip 2026.md")
        try await world.put("2", "/byteclub/trip 2025.md")
        try await world.put("3", "/byteclub/photos/trip 2026.jpg")
        #expect(await world.run("notes", "search", "2026", "trip") == .success)
        #expect(world.out == "Trip 2026.md\n" && world.err.isEmpty)
        #expect(await world.run("notes", "search", "2026", "trip", "--names") == .success)
        #expect(world.out == "Trip 2026.md\n" && world.err.isEmpty)
        #expect(await world.run("notes", "search", "rip", "--names") == .success)
        #expect(world.out.split(separator: "\n").count == 2, "any part of a name")
    }

    @Test("search finds notes by their texts, and shows where: bold on a terminal, after a tab in a pipe")
    func searchTexts() async throws {
        let world = try World()
        try await world.put("Leave the keys\nin the Car Park.", "/byteclub/Trips/where.md")
        try await world.put("nothing", "/byteclub/car.md")
        try await world.put("car park", "/byteclub/photos/where.md")
        #expect(await world.run("notes", "search", "car") == .success)
        #expect(world.out == "car.md\nTrips/where.md\tLeave the keys in the Car Park.\n")
        let terminal = world.context(terminal: Self.terminal)
        #expect(await world.run("notes", "search", "\"car park\"", in: terminal) == .success)
        #expect(world.out == "Trips/where.md\n    Leave the keys in the \u{1B}[1mCar Park\u{1B}[0m.\n")
        for plain in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
            let context = world.context(plain, terminal: Self.terminal)
            #expect(await world.run("notes", "search", "\"car park\"", in: context) == .success)
            #expect(world.out == "Trips/where.md\n    Leave the keys in the Car Park.\n")
        }
        #expect(await world.run("notes", "search", "park", "--json") == .success)
        #expect(world.out.contains("\"snippet\"") && world.out.contains("\"match\""))
        #expect(await world.run("notes", "search", "car", "--limit", "1") == .success)
        #expect(world.out == "car.md\n")
        let cut = "byteclub: first 1 of more; --limit shows more\n"
        #expect(world.err == cut)
        #expect(await world.run("notes", "search", "car", "--limit", "1", "--json") == .success)
        #expect(world.err == cut)
        #expect(await world.run("notes", "search", "car", "--limit", "2") == .success)
        #expect(world.err.isEmpty, "that is all, and not the photo's")
    }

    @Test("a search that finds nothing says so on a terminal, and one without a word is refused")
    func searchNothing() async throws {
        let world = try World()
        try await world.put("x", "/byteclub/car.md")
        let terminal = world.context(terminal: Self.terminal)
        #expect(await world.run("notes", "search", "bus", in: terminal) == .success)
        #expect(world.out.isEmpty && world.err == "byteclub: no notes match 'bus'\n")
        #expect(await world.run("notes", "search", "?!") == .usage)
        #expect(world.err.hasPrefix("byteclub: no letter or digit in the search words"))
    }

    @Test("what a text holds for a terminal is spelled out where it is shown")
    func searchEscapes() async throws {
        let world = try World()
        try await world.put("a \u{1B}[31mcar\u{1B}]0;x\u{7}", "/byteclub/car.md")
        let terminal = world.context(terminal: Self.terminal)
        #expect(await world.run("notes", "search", "car", in: terminal) == .success)
        #expect(!world.out.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[0m", with: "").contains("\u{1B}"))
    }

    @Test("a server that is down is one line and code 69")
    func down() async throws {
        let world = try World()
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "cannot connect") }
        #expect(await world.run("notes", "list") == .unavailable)
        #expect(world.err == "byteclub: cannot connect\n")
    }

    @Test("a reader that goes away is no failure")
    func brokenPipe() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        var context = world.context()
        context.output = Output { _ in throw Output.BrokenPipe() }
        #expect(await world.run("notes", "show", "trip.md", in: context) == .success)
    }

    @Test("a note keeps the date of the file that it was added from, and show -o gives it back")
    func dates() async throws {
        let world = try World()
        let made = FileTime(nanoseconds: 1_525_478_400_500_000_000)
        let (file, copy) = (world.home.path + "/old.md", world.home.path + "/copy.md")
        try LocalFile.replace(file, with: Array("old".utf8))
        try LocalFile.setModified(file, made)
        #expect(await world.run("notes", "add", "a.md", file) == .success)
        #expect(try await world.server.metadata(at: RemotePath("/byteclub/a.md")).fileTime == made)
        #expect(await world.run("notes", "show", "a.md", "-o", copy) == .success)
        #expect(world.out == copy + "\n")
        #expect(try LocalFile.read(copy) == Array("old".utf8))
        #expect(try LocalFile.modified(copy) == made)
        #expect(await world.run("notes", "show", "a.md", "-o", copy) == .cannotCreate)
        #expect(try !LocalFile.isExecutable(copy))
        #expect(unsafe chmod(file, 0o755) == 0)
        #expect(await world.run("notes", "add", "a.md", file, "--force") == .success)
        #expect(await world.run("notes", "show", "a.md", "-o", copy, "--force") == .success)
        #expect(try LocalFile.isExecutable(copy) && LocalFile.modified(copy) == made)
        #expect(await world.run("notes", "show", "a.md", "--force") == .usage)
        #expect(await world.run("notes", "add", "b.md", in: world.context(input: "x")) == .success)
        let typed = try await world.server.metadata(at: RemotePath("/byteclub/b.md"))
        #expect(typed.clientModified == typed.modified)
    }

    @Test("append begins on a line of its own, and keeps what somebody saves at the same moment")
    func append() async throws {
        let world = try World()
        #expect(await world.run("notes", "append", "a.md", "We", "meet") == .success)
        #expect(await world.run("notes", "append", "a.md", in: world.context(input: "at six")) == .success)
        let other = MemoryRemote(sharing: world.server, author: 2)
        let isFirst = Mutex(true)
        world.server.fault = { operation throws(RemoteError) in
            guard operation.kind == .put, operation.moment == .before, isFirst.withLock({ exchange(&$0, false) }) else {
                return
            }
            let path = operation.path ?? .root
            _ = try await other.put(
                .bytes(Array("We meet\nat seven\n".utf8)), at: path, condition: .overwrite, policy: .fail, progress: nil
            )
        }
        #expect(await world.run("notes", "append", "a.md", "or", "eight") == .success)
        #expect(try await world.text("/byteclub/a.md") == "We meet\nat seven\nor eight\n")
    }

    @Test("mv gives another name or folder, and replaces nothing")
    func move() async throws {
        let world = try World()
        try await world.put("1", "/byteclub/a.md")
        try await world.put("2", "/byteclub/B.md")
        #expect(await world.run("notes", "mv", "a.md", "b.md") == .cannotCreate)
        #expect(world.err == "byteclub: the note 'b.md' already exists\n")
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .move { throw RemoteError(.forbidden, "this folder is frozen") }
        }
        #expect(await world.run("notes", "mv", "a.md", "free.md") == .cannotCreate)
        #expect(world.err == "byteclub: this folder is frozen\n", "a refusal for another reason is no note")
        world.server.fault = nil
        #expect(await world.run("notes", "mv", "a.md", "Trips/") == .success)
        #expect(world.out == "moved 'a.md' to 'Trips/a.md'\n")
        #expect(try await world.text("/byteclub/Trips/a.md") == "1")
        #expect(await world.run("notes", "mv", "a.md", "c.md") == .noInput)
        #expect(await world.run("notes", "mv", "Trips", "c.md") == .badData)
        #expect(await world.run("notes", "add", "b.md", in: world.context(input: "x")) == .cannotCreate)
        #expect(world.err.contains("the note 'B.md' already exists"))
    }

    private func exchange(_ value: inout Bool, _ new: Bool) -> Bool {
        defer { value = new }
        return value
    }
}
