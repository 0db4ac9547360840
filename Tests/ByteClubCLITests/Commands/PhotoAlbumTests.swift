import ByteClubCore
import ByteClubMedia
import FoundationEssentials
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Albums: folders that are uploaded, listed and moved into") struct PhotoAlbumTests {
    private static let terminal = Terminal(
        isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { 80 })

    private let world: World
    private let pictures: String

    init() throws {
        world = try World()
        pictures = world.home.path + "/Pictures"
    }

    /// Writes photos of different lengths below the folder of pictures.
    private func write(_ files: [String], first: Int = 0) throws {
        let picture = try #require(Picture(width: 8, height: 8, rgb: [UInt8](repeating: 90, count: 192))).jpeg()
        for (number, file) in files.enumerated() {
            // Bytes after the end of a picture are part of the file.
            try LocalFiles.write(
                picture + [UInt8](repeating: 1, count: first + number), to: pictures + "/" + file)
        }
    }

    /// The paths of all files on the server below the photos.
    private func stored() async throws -> [String] {
        let folder = try RemotePath("/byteclub/photos")
        let files = try await FolderListing(isRecursive: true).entries(of: folder, world.server) ?? []
        return files.map { $0.path.name(below: folder) }.sorted()
    }

    private func names() -> [String] { world.out.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) } }

    @Test("a folder keeps its structure: what is in it goes to the photos, and its folders become albums")
    func structure() async throws {
        let files = ["2024 Dolomites/a.jpg", "2024 Dolomites/day 2/a.jpg", "2026 Camargue/a.jpg", "b.jpg"]
        try write(files)
        #expect(await world.run("photos", "upload", pictures) == .success, "\(world.err)")
        #expect(world.out == files.map { "/byteclub/photos/\($0)\n" }.joined())
        #expect(try await stored() == files.sorted())
        // Once more nothing is sent, and a folder that is named with others is no other one.
        let calls = CallsAtOnce(of: .put, on: world.server, wanted: 1)
        #expect(await world.run("photos", "upload", pictures + "/", pictures + "/b.jpg") == .success)
        #expect(calls.most == 0 && world.out.split(separator: "\n").count == 5)
        #expect(await world.run("photos", "upload", pictures, "--album", "Trip") == .success)
        #expect(world.out == files.map { "/byteclub/photos/Trip/\($0)\n" }.joined())
        #expect(await world.run("photos", "upload", pictures, "--album", "One", "--flat") == .success)
        #expect(
            world.out == ["a.jpg", "a (1).jpg", "a (2).jpg", "b.jpg"].map { "/byteclub/photos/One/\($0)\n" }.joined())
        // Files that are named one by one go as before.
        #expect(await world.run("photos", "upload", pictures + "/2026 Camargue/a.jpg", "--album", "Two") == .success)
        #expect(world.out == "/byteclub/photos/Two/a.jpg\n")
    }

    @Test("photos of small albums are on their way together, and each album is asked for once")
    func together() async throws {
        try write((0..<20).map { "album \($0 / 2)/\($0 % 2).jpg" })
        let lists = Mutex(0)
        // The first one is sent alone.
        let several = CallsAtOnce(of: .put, on: world.server, wanted: 4, exceptFor: "0.jpg")
        let fault = world.server.fault
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .list, operation.moment == .before { lists.withLock { $0 += 1 } }
            try await fault?(operation)
        }
        #expect(await world.run("photos", "upload", pictures) == .success, "\(world.err)")
        #expect(names() == (0..<20).map { "/byteclub/photos/album \($0 / 2)/\($0 % 2).jpg" })
        #expect(several.most >= 4 && lists.withLock { $0 } == 10, "\(several.most), \(lists.withLock { $0 })")
    }

    @Test("the same photo in two albums is in both, and another one of its name in an album gets a number")
    func equal() async throws {
        try write(["a/x.jpg"])
        try write(["b/x.jpg"])
        #expect(await world.run("photos", "upload", pictures) == .success, "\(world.err)")
        #expect(try await stored() == ["a/x.jpg", "b/x.jpg"])
        try write(["b/x.jpg"], first: 7)
        #expect(await world.run("photos", "upload", pictures) == .success, "\(world.err)")
        #expect(try await stored() == ["a/x.jpg", "b/x (1).jpg", "b/x.jpg"])
    }

    @Test("a folder that cannot be stored is a line for each of its photos, and the others are uploaded")
    func unstorable() async throws {
        try write(["bad\\name/a.jpg", "good/b.jpg", "~$x/c.jpg", "ends /d.jpg"])
        #expect(await world.run("photos", "upload", pictures) == .tryAgain)
        #expect(world.out == "/byteclub/photos/good/b.jpg\n")
        let lines = world.err.split(separator: "\n").filter { $0.contains("cannot be uploaded under this name") }
        #expect(lines.count == 3, "\(world.err)")
        // A note is called like the folder.
        try await world.put("1", "/byteclub/photos/clash")
        try write(["clash/e.jpg"])
        #expect(await world.run("photos", "upload", pictures + "/good", pictures) == .tryAgain)
        #expect(world.err.contains("clash/e.jpg"), "\(world.err)")
    }

    @Test("lists show albums first with the number of photos, and list one by its name")
    func list() async throws {
        for path in ["a.jpg", "Trip/b.jpg", "Trip/c.jpg.md", "Trip/day 1/c.jpg", "Empty/x.txt"] {
            try await world.put("1", "/byteclub/photos/" + path)
        }
        let terminal = world.context(terminal: Self.terminal)
        #expect(await world.run("photos", "list", in: terminal) == .success)
        #expect(
            world.out == """
                \u{1B}[1mNAME        SIZE  CHANGED\u{1B}[0m
                Empty/  0 photos
                Trip/   2 photos
                a.jpg    1 bytes  2013-08-06 09:15

                """)
        #expect(await world.run("photos", "list") == .success)
        #expect(names() == ["Empty/", "Trip/", "a.jpg"])
        for album in ["Trip", "trip/", "/byteclub/photos/Trip"] {
            #expect(await world.run("photos", "list", album) == .success)
            #expect(names() == ["Trip/day 1/", "Trip/b.jpg"])
        }
        #expect(await world.run("photos", "list", "Trip", "-r") == .success)
        #expect(names() == ["Trip/b.jpg", "Trip/day 1/c.jpg"])
        #expect(await world.run("photos", "list", ".", "--json") == .success)
        #expect(world.out.contains(#""count" : 2"#) && world.out.contains(#""type" : "folder""#), "\(world.out)")
        #expect(await world.run("photos", "list", "None") == .noInput)
        #expect(world.err.contains("no album named 'None'"))
        #expect(await world.run("photos", "list", "../x") == .badData)
        for option in [[], ["--kind", "sphere"], ["--json"]] {
            #expect(await ByteClub.run(["photos", "list", "Trip/b.jpg"] + option, in: world.context()) == .badData)
        }
        let words = "byteclub: 'Trip/b.jpg' is a photo, not an album; see 'byteclub photos info Trip/b.jpg'\n"
        #expect(world.err.hasSuffix(words + words + words), "\(world.err)")
        // The command accepts the completed word.
        #expect(
            await world.run("---completion", "photos", "list", "--", "positional@0", "3", "0", "b", "p", "l", "")
                == .success)
        #expect(names() == ["Empty/", "Trip/"], "\(world.out)")
    }

    @Test("albums lists the folders that have photos, with their number and the newest one's date")
    func albums() async throws {
        #expect(await world.run("photos", "albums", in: world.context(terminal: Self.terminal)) == .success)
        #expect(world.out.isEmpty && world.err.contains("no albums yet"))
        for path in ["top.jpg", "Trip 10/a.jpg", "trip 2/day 1/b.jpg", "trip 2/day 1/b.jpg.md", "Notes/c.txt"] {
            try await world.put("1", "/byteclub/photos/" + path)
        }
        for (name, seconds) in [("old", 1_000_000_000), ("new", 1_700_000_000)] as [(String, Int64)] {
            _ = try await world.server.put(
                .bytes([1]), at: RemotePath("/byteclub/photos/Dated/\(name).jpg"),
                modified: FileTime(seconds: seconds), condition: .create, policy: .fail, progress: nil)
        }
        #expect(await world.run("photos", "albums") == .success)
        #expect(
            world.out == """
                Dated\t2\t2023-11-14T22:13:20Z
                trip 2/day 1\t1\t2013-08-06T09:15:00Z
                Trip 10\t1\t2013-08-06T09:15:00Z

                """)
        #expect(await world.run("photos", "albums", "--json") == .success)
        let listed = try JSONDecoder().decode([Listed].self, from: Data(world.outBytes))
        let dated = Listed(
            name: "Dated", path: "/byteclub/photos/Dated", type: "folder", count: 2, newest: "2023-11-14T22:13:20Z")
        #expect(listed.first == dated)
        #expect(await world.run("photos", "albums", in: world.context(terminal: Self.terminal)) == .success)
        #expect(world.out.contains("Trip 10            1  2013-08-06\n"), "\(world.out)")
    }

    private struct Listed: Decodable, Equatable {
        var name, path, type: String
        var count: Int
        var newest: String?
    }

    @Test("mv gives a photo another name or album with its caption, and replaces nothing")
    func move() async throws {
        for path in ["a.jpg", "a.jpg.md", "b.jpg", "Trip/c.jpg", "note.txt"] {
            try await world.put(path, "/byteclub/photos/" + path)
        }
        #expect(await world.run("photos", "mv", "a.jpg", "B.jpg") == .cannotCreate)
        #expect(world.err.contains("the photo 'B.jpg' already exists"), "\(world.err)")
        #expect(await world.run("photos", "mv", "A.jpg", "Trip/") == .success, "\(world.err)")
        #expect(world.out == "moved 'A.jpg' to 'Trip/a.jpg'\n")
        #expect(try await stored() == ["Trip/a.jpg", "Trip/a.jpg.md", "Trip/c.jpg", "b.jpg", "note.txt"])
        // Without a slash, too, an existing album is the target, and a name gets the photo's suffix.
        #expect(await world.run("photos", "mv", "b.jpg", "trip") == .success)
        #expect(world.out == "moved 'b.jpg' to 'Trip/b.jpg'\n")
        #expect(await world.run("photos", "mv", "Trip/a.jpg", "the ridge", "--json") == .success)
        #expect(world.out.contains(#""path" : "/byteclub/photos/the ridge.jpg""#), "\(world.out)")
        #expect(try await world.text("/byteclub/photos/the ridge.jpg.md") == "a.jpg.md")
        #expect(await world.run("photos", "mv", "Trip/c.jpg", ".") == .success)
        #expect(await world.run("photos", "mv", "c.jpg", "C.JPG") == .success)
        #expect(try await stored() == ["C.JPG", "Trip/b.jpg", "note.txt", "the ridge.jpg", "the ridge.jpg.md"])
        // A caption that is another's is no place for this one, and no caption for a photo that has none.
        try await world.put("another", "/byteclub/photos/New/the ridge.jpg.md")
        try await world.put("another", "/byteclub/photos/sea.jpg.md")
        let before = try await stored()
        for (name, target, note) in [
            ("the ridge.jpg", "New/", "New/the ridge.jpg.md"), ("C.JPG", "sea.jpg", "sea.jpg.md"),
            ("the ridge.jpg", "sea.jpg", "sea.jpg.md"),
        ] {
            #expect(await world.run("photos", "mv", name, target) == .cannotCreate)
            #expect(
                world.err.contains("the note '\(note)' already exists and would become the photo's caption"),
                "\(world.err)")
        }
        #expect(try await stored() == before)
        #expect(try await world.text("/byteclub/photos/sea.jpg.md") == "another")
        // When the photo's own target exists, that is the error.
        try await world.put("sea", "/byteclub/photos/sea.jpg")
        #expect(await world.run("photos", "mv", "the ridge.jpg", "sea.jpg") == .cannotCreate)
        #expect(world.err == "byteclub: the photo 'sea.jpg' already exists\n")
        #expect(await world.run("photos", "mv", "C.JPG", "note.txt/") == .cannotCreate)
        #expect(!world.err.contains("there is a photo"), "\(world.err)")
        #expect(await world.run("photos", "mv", "none.jpg", "x.jpg") == .noInput)
        #expect(await world.run("photos", "mv", "note.txt", "x.jpg") == .badData)
        #expect(await world.run("photos", "mv", "C.JPG", "../x.jpg") == .badData)
    }

    @Test("mv renames an album with all in it, and not into itself")
    func moveAlbum() async throws {
        for path in ["Trip/a.jpg", "Trip/a.jpg.md", "Old/b.jpg"] {
            try await world.put("1", "/byteclub/photos/" + path)
        }
        #expect(await world.run("photos", "mv", "Trip", "Trip 2026") == .success, "\(world.err)")
        #expect(await world.run("photos", "mv", "Trip 2026", "Old") == .success, "\(world.err)")
        #expect(try await stored() == ["Old/Trip 2026/a.jpg", "Old/Trip 2026/a.jpg.md", "Old/b.jpg"])
        #expect(await world.run("photos", "mv", "Old", "Old/Trip 2026/") == .cannotCreate)
        #expect(world.err.contains("cannot be moved into itself"), "\(world.err)")
    }

    @Test("a server's refusal for another reason is told in its own words")
    func refused() async throws {
        try await world.put("1", "/byteclub/photos/a.jpg")
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .move { throw RemoteError(.forbidden, "this folder is frozen") }
        }
        #expect(await world.run("photos", "mv", "a.jpg", "b.jpg") == .cannotCreate)
        #expect(world.err == "byteclub: this folder is frozen\n")
    }

    @Test("a caption that cannot go along is told of, with what moves it")
    func captionStays() async throws {
        try await world.put("1", "/byteclub/photos/a.jpg")
        try await world.put("2", "/byteclub/photos/a.jpg.md")
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .move, operation.moment == .before, operation.path?.name == "a.jpg.md" {
                throw RemoteError(.unreachable, "gone")
            }
        }
        #expect(await world.run("photos", "mv", "a.jpg", "b.jpg") == .tryAgain)
        #expect(world.err.contains("'a.jpg' is now 'b.jpg', but its caption is still 'a.jpg.md'"), "\(world.err)")
    }
}
