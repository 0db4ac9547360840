import ByteClubCore
import ByteClubRemotes
import FoundationEssentials
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct PhotosCommandTests {
    private let city = Fixture.path("panoramas/city.jpg")

    @Test("an upload stores the very bytes and prints the path on the server, and nothing else")
    func upload() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", city) == .success, "\(world.err)")
        #expect(world.out == "/byteclub/photos/city.jpg\n")
        let stored = try await world.server.content(
            at: RemotePath("/byteclub/photos/city.jpg"), revision: nil, range: nil, limit: .max)
        #expect(stored.bytes == Fixture.bytes("panoramas/city.jpg"))
        #expect(!world.err.contains("\u{1B}") && !world.err.contains("\r"))
        #expect(world.connections.map(\.lane) == [.photos(bytesPerSecond: nil)])
    }

    @Test("a photo that is there is not sent again; another one of its name gets a number")
    func again() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", city) == .success)
        let version = try await world.server.metadata(at: RemotePath("/byteclub/photos/city.jpg")).rev
        #expect(await world.run("photos", "upload", city) == .success)
        #expect(world.out == "/byteclub/photos/city.jpg\n")
        #expect(world.err.contains("already exists"))
        #expect(try await world.server.metadata(at: RemotePath("/byteclub/photos/city.jpg")).rev == version)
        let other = world.home.path + "/city.jpg"
        try LocalFile.replace(other, with: Fixture.bytes("panoramas/forest.jpg"))
        #expect(await world.run("photos", "upload", other) == .success)
        #expect(world.out == "/byteclub/photos/city (1).jpg\n")
        // The same bytes again, under their own and under another name: no third photo.
        #expect(await world.run("photos", "upload", other, Fixture.path("panoramas/forest.jpg")) == .success)
        #expect(world.out == "/byteclub/photos/city (1).jpg\n/byteclub/photos/city (1).jpg\n")
        #expect(world.err.contains("'forest.jpg' already exists as 'city (1).jpg'"), "\(world.err)")
        #expect(
            try await world.server.list(RemotePath("/byteclub/photos"), unless: nil, includeDeleted: false)?
                .contents?.count == 2)
    }

    @Test("what is no JPEG is refused, the others are uploaded, and the end is 75")
    func batch() async throws {
        let world = try World()
        let bad = Fixture.path("panoramas/not-a-photo.jpg")
        #expect(await world.run("photos", "upload", bad) == .badData)
        #expect(world.out.isEmpty)
        #expect(world.err.split(separator: "\n").count == 1 && world.err.contains("not a JPEG"), "\(world.err)")
        let forest = Fixture.path("panoramas/forest.jpg")
        #expect(await world.run("photos", "upload", bad, city, world.home.path + "/none.jpg", forest) == .tryAgain)
        #expect(world.out == "/byteclub/photos/city.jpg\n/byteclub/photos/forest.jpg\n")
        #expect(await world.run("photos", "upload", world.home.path + "/none.jpg") == .noInput)
        #expect(await world.run("photos", "upload", world.home.path) == .badData)
    }

    @Test("a photo that somebody made to hold the machine up is refused in one line when it is to be encoded anew")
    func costly() async throws {
        let world = try World()
        let photo = world.home.path + "/costly.jpg"
        try LocalFile.replace(photo, with: CostlyPhoto.jpeg(side: 8000, refinements: 400))
        #expect(await world.run("photos", "upload", photo, "--quality", "60") == .badData)
        #expect(world.out.isEmpty)
        #expect(world.err.split(separator: "\n").count == 1 && world.err.contains("too many passes"), "\(world.err)")
        // As it is, it is a file like any other.
        #expect(await world.run("photos", "upload", photo) == .success, "\(world.err)")
    }

    @Test("JSON is one object a line and ends in one summary")
    func json() async throws {
        let world = try World()
        let bad = Fixture.path("panoramas/not-a-photo.jpg")
        #expect(await world.run("photos", "upload", city, bad, "--json") == .tryAgain)
        let lines = world.out.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first?.contains(#""event":"uploaded""#) == true)
        #expect(
            lines.last?.hasPrefix(#"{"event":"summary","failed":1,"present":0,"skipped":0,"time":"2"#) == true
                && lines.last?.hasSuffix(#"Z","uploaded":1}"#) == true)
        // Photos that the server had were not uploaded.
        #expect(await world.run("photos", "upload", city, "--json") == .success)
        let again = world.out.split(separator: "\n").last
        #expect(
            again?.hasPrefix(#"{"event":"summary","failed":0,"present":1,"skipped":0,"time":"2"#) == true,
            "\(world.out)")
        #expect(again?.hasSuffix(#"Z","uploaded":0}"#) == true, "\(world.out)")
    }

    @Test("a wrong token ends the batch at once")
    func unauthorised() async throws {
        let world = try World()
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unauthorized, "unknown token") }
        #expect(await world.run("photos", "upload", city, city, city) == .notAuthorised)
        #expect(
            world.err
                == "byteclub: unknown token; sign in again with 'byteclub login URL'; 3 photos were not uploaded\n")
    }

    @Test("the rate comes from the flag, else from the environment")
    func rate() async throws {
        let world = try World()
        let context = world.context(["BYTECLUB_LIMIT_RATE": "2M"])
        await world.run("photos", "upload", city, in: context)
        await world.run("photos", "upload", city, "--limit-rate", "500K", in: context)
        #expect(world.connections.map(\.lane) == [.photos(bytesPerSecond: 2 << 20), .photos(bytesPerSecond: 512_000)])
        let wrong = world.context(["BYTECLUB_LIMIT_RATE": "fast"])
        #expect(await world.run("photos", "upload", city, in: wrong) == .configuration)
    }

    @Test("--quality encodes anew and leaves no file behind")
    func quality() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", city, "--quality", "40") == .success, "\(world.err)")
        let stored = try await world.server.metadata(at: RemotePath("/byteclub/photos/city.jpg"))
        #expect(stored.bytes > 0 && stored.bytes < Int64(Fixture.bytes("panoramas/city.jpg").count))
    }

    @Test(
        "Ctrl-C cancels: nothing is on the server, and the code is 130; SIGTERM 143",
        arguments: [ByteClubCLI.ExitStatus.interrupted, .terminated])
    func cancel(_ signal: ByteClubCLI.ExitStatus) async throws {
        let world = try World()
        let press = Press()
        world.server.fault = { operation throws(RemoteError) in
            guard operation.kind == .put, operation.moment == .before else { return }
            press.now(signal)
            try? await Task.sleep(for: .seconds(60))
            throw RemoteError(.cancelled, "cancelled")
        }
        let context = world.context(interrupts: press.interrupts)
        #expect(await world.run("photos", "upload", city, city, in: context) == signal)
        #expect(world.out.isEmpty)
        world.server.fault = nil
        #expect(try await world.text("/byteclub/photos/city.jpg") == nil)
    }

    @Test("a photo keeps the date of its file, by which lists are sorted, and its download has it again")
    func dates() async throws {
        let world = try World()
        let made = FileTime(nanoseconds: 1_525_478_400_123_456_789)
        let old = world.home.path + "/old.jpg"
        try LocalFile.replace(old, with: Fixture.bytes("panoramas/forest.jpg"))
        try LocalFile.setModified(old, made)
        let new = world.home.path + "/new.jpg"
        try LocalFile.replace(new, with: Fixture.bytes("panoramas/city.jpg"))
        try LocalFile.setModified(new, FileTime(nanoseconds: 1_577_836_800_000_000_000))
        #expect(await world.run("photos", "upload", new, old) == .success, "\(world.err)")
        #expect(await world.run("photos", "list", "--sort", "date") == .success)
        let rows = world.out.split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(rows.map(\.first) == ["new.jpg", "old.jpg"])
        #expect(rows.map(\.last) == ["2020-01-01T00:00:00Z", "2018-05-05T00:00:00Z"])
        #expect(await world.run("photos", "list", "--json") == .success)
        #expect(world.out.contains(#""mtime" : "2018-05-05T00:00:00.123456789Z""#))
        let copy = world.home.path + "/copy.jpg"
        #expect(await world.run("photos", "download", "old.jpg", "-o", copy) == .success)
        #expect(try LocalFile.modified(copy) == made)
    }

    @Test("a date that this disk does not have is replaced by no other but today's")
    func impossibleDates() throws {
        let world = try World()
        let file = world.home.path + "/a.jpg"
        // The years 1700 and 2261.
        for seconds in [-8_520_336_000, 9_183_110_400] as [Int64] {
            try LocalFile.replace(file, with: [1])
            let date = try #require(FileTime(seconds: seconds))
            try LocalFile.setModified(file, date)
            let found = try #require(try LocalFile.modified(file))
            let today = try #require(try LocalFile.modified(world.home.path))
            #expect(found == date || abs(found.date.seconds - today.date.seconds) < 86_400)
        }
    }

    @Test("a download is the very bytes, and replaces nothing unless forced")
    func download() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", city) == .success)
        let file = world.home.path + "/out.jpg"
        #expect(await world.run("photos", "download", "city.jpg", "-o", file) == .success, "\(world.err)")
        #expect(world.out == file + "\n")
        #expect(try LocalFile.read(file) == Fixture.bytes("panoramas/city.jpg"))
        try LocalFile.replace(file, with: [1])
        #expect(await world.run("photos", "download", "city.jpg", "-o", file) == .cannotCreate)
        #expect(try LocalFile.read(file) == [1])
        #expect(await world.run("photos", "download", "city.jpg", "-o", file, "--force") == .success)
        #expect(try LocalFile.read(file) == Fixture.bytes("panoramas/city.jpg"))
        #expect(await world.run("photos", "download", "none.jpg", "-o", file + "2") == .noInput)
        #expect(!LocalFile.exists(file + "2"))
        #expect(await world.run("photos", "download", "city.jpg", "-o", world.home.path + "/no/x") == .cannotCreate)
    }

    @Test("a name that is a photo's own is no pattern, whatever is in it")
    func nameLikePattern() async throws {
        let world = try World()
        let names = ["a[1].jpg", "what?.jpg", "st*r.jpg"]
        for name in names + ["a1.jpg", "whats.jpg", "stir.jpg"] {
            try await world.put(name, "/byteclub/photos/\(name)")
        }
        for name in names {
            let file = world.home.path + "/out.jpg"
            #expect(await world.run("photos", "download", name, "-o", file, "--force") == .success, "\(world.err)")
            #expect(try LocalFile.read(file) == Array(name.utf8))
            #expect(await world.run("photos", "download", name, "-o", "-") == .success, "\(world.err)")
            #expect(world.out == name)
        }
        let folder = world.home.path + "/both"
        try LocalFile.makeDirectories(folder)
        #expect(await world.run("photos", "download", "A[1].jpg", "st*r.jpg", "-o", folder) == .success, "\(world.err)")
        #expect(
            LocalFile.names(in: folder).sorted() == ["A[1].jpg", "st*r.jpg"], "they are named as they were asked for")
    }

    @Test("photos go into a folder by name and by pattern, and one to standard output; what fails stops no other")
    func downloadMany() async throws {
        let world = try World()
        let forest = Fixture.path("panoramas/forest.jpg")
        #expect(await world.run("photos", "upload", city, forest) == .success)
        let folder = world.home.path + "/out"
        try LocalFile.makeDirectory(folder)
        #expect(await world.run("photos", "download", "city.jpg", "-o", folder + "/") == .success, "\(world.err)")
        #expect(world.out == folder + "/city.jpg\n")
        #expect(await world.run("photos", "download", "*.jpg", "none.jpg", "-o", folder) == .tryAgain)
        #expect(world.out == folder + "/city.jpg\n" + folder + "/forest.jpg\n")
        #expect(world.err.contains("city.jpg' already exists"), "\(world.err)")
        #expect(world.err.contains("no photo named 'none.jpg'"), "\(world.err)")
        #expect(try LocalFile.read(folder + "/forest.jpg") == Fixture.bytes("panoramas/forest.jpg"))
        #expect(await world.run("photos", "download", "[cf]*.jpg", "-o", folder, "--force", "--json") == .success)
        #expect(world.out.split(separator: "\n").count == 2)
        #expect(await world.run("photos", "download", "x*.jpg", "-o", folder) == .noInput)
        #expect(await world.run("photos", "download", "*.jpg", "-o", folder + "/none") == .cannotCreate)
        try await world.put("x", "/byteclub/photos/.profile")
        try await world.put("x", "/byteclub/photos/notes.txt")
        #expect(await world.run("photos", "download", "*", ".*", "-o", folder, "--force") == .tryAgain)
        #expect(world.out.split(separator: "\n").count == 2, "\(world.out)")
        let other = try RemotePath("/byteclub/photos/a/city.jpg")
        _ = try await world.server.copy(RemotePath("/byteclub/photos/forest.jpg"), to: other)
        #expect(
            await world.run("photos", "download", "city.jpg", "a/*.jpg", "-o", folder, "--force", "--flat")
                == .tryAgain)
        #expect(try LocalFile.read(folder + "/city.jpg") == Fixture.bytes("panoramas/city.jpg"))
        #expect(await world.run("photos", "download", "city.jpg", "-o", "-") == .success)
        #expect(world.outBytes == Fixture.bytes("panoramas/city.jpg"))
        #expect(LocalFile.names(in: world.directories.state + "/downloads").isEmpty)
        #expect(await world.run("photos", "download", "*.jpg", "-o", "-") == .usage)
    }

    @Test("a folder stands for the photos in it and below, one without a suffix gets one, and a cut one is told")
    func uploadFolder() async throws {
        let world = try World()
        let folder = world.home.path + "/trip"
        try LocalFile.makeDirectory(folder)
        try LocalFile.makeDirectory(folder + "/day 2")
        let bytes = Fixture.bytes("panoramas/city.jpg")
        try LocalFile.replace(folder + "/day 2/b.JPG", with: Fixture.bytes("panoramas/forest.jpg"))
        try LocalFile.replace(folder + "/a.jpg", with: bytes)
        try LocalFile.replace(folder + "/notes.txt", with: [65])
        #expect(unsafe symlink(folder, folder + "/again") == 0)
        #expect(await world.run("photos", "upload", folder) == .success, "\(world.err)")
        #expect(world.out == "/byteclub/photos/a.jpg\n/byteclub/photos/day 2/b.JPG\n")
        let bare = world.home.path + "/bare"
        try LocalFile.replace(bare, with: Array(bytes.prefix(bytes.count - 1000)))
        try LocalFile.setModified(bare, try #require(FileTime(seconds: 1_700_000_000, nanoseconds: 0)))
        #expect(await world.run("photos", "upload", bare) == .success)
        #expect(world.out == "/byteclub/photos/bare.jpg\n")
        #expect(world.err.contains("seems to be truncated"), "\(world.err)")
        try LocalFile.makeDirectory(folder + "/none")
        #expect(await world.run("photos", "upload", folder + "/none") == .badData)
        #expect(world.err.contains("no JPEG photo in"), "\(world.err)")
    }

    @Test("info tells when and where a photo was taken")
    func taken() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", Fixture.path("panoramas/dated.jpg")) == .success)
        #expect(await world.run("photos", "info", "dated.jpg") == .success)
        #expect(world.out.contains("taken") && world.out.contains("place"), "\(world.out)")
        #expect(await world.run("photos", "info", "dated.jpg", "--json") == .success)
        #expect(world.out.contains(#""taken" : ""#) && world.out.contains(#""latitude" : "#), "\(world.out)")
    }

    @Test("info tells of a photo whose picture begins after megabytes of tags what it tells of it without them")
    func lateBegin() async throws {
        let world = try World()
        let photo = Fixture.bytes("panoramas/dated.jpg")
        #expect(await world.run("photos", "upload", Fixture.path("panoramas/dated.jpg")) == .success)
        #expect(await world.run("photos", "info", "dated.jpg") == .success)
        let facts = ["pixels", "view", "taken", "place"].map { name in
            world.out.split(separator: "\n").first { $0.hasPrefix(name) }
        }
        #expect(!facts.contains(nil), "\(world.out)")
        for segments in [4, 20] {
            let segment = [0xFF, 0xEF, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 65_533)
            let tags = (0..<segments).flatMap { _ in segment }
            let late = world.home.path + "/late-\(segments).jpg"
            try LocalFile.replace(late, with: Array(photo.prefix(2) + tags + photo.dropFirst(2)))
            #expect(await world.run("photos", "upload", late) == .success)
            #expect(await world.run("photos", "info", "late-\(segments).jpg") == .success)
            for fact in facts.compactMap({ $0 }) { #expect(world.out.contains(fact), "\(world.out)") }
        }
    }

    @Test("a thumbnail that cannot be made is code 65 and no file")
    func thumbnail() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", city) == .success)
        let file = world.home.path + "/t.jpg"
        #expect(await world.run("photos", "thumbnail", "city.jpg", "-o", file) == .badData)
        #expect(!LocalFile.exists(file))
    }

    @Test("list shows photos only, info tells how to look at one, rm removes it")
    func listInfoRemove() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", city) == .success)
        try await world.put("notes", "/byteclub/photos/readme.txt")
        #expect(await world.run("photos", "list", "--json") == .success)
        #expect(world.out.contains(#""path" : "/byteclub/photos/city.jpg""#) && !world.out.contains("readme"))
        #expect(await world.run("photos", "info", "city.jpg") == .success)
        #expect(world.out.contains("1024 × 512") && world.out.contains("sphere"), "\(world.out)")
        #expect(await world.run("photos", "rm", "city.jpg") == .success)
        #expect(await world.run("photos", "info", "city.jpg") == .noInput)
    }

    @Test("a removed photo is listed, and comes back with and without its version")
    func restore() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", city) == .success)
        #expect(await world.run("photos", "rm", "city.jpg") == .success)
        #expect(await world.run("photos", "list", "--deleted") == .success)
        #expect(world.out.hasPrefix("city.jpg\tdeleted\t"), "\(world.out)")
        #expect(await world.run("photos", "restore", "city.jpg") == .success)
        #expect(world.out == "restored 'city.jpg'\n")
        #expect(await world.run("photos", "rm", "city.jpg") == .success)
        #expect(await world.run("photos", "history", "city.jpg") == .success)
        let versions = world.out.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        #expect(versions.count == 4)
        let first = try #require(versions.last)
        #expect(await world.run("photos", "restore", "city.jpg", "--rev", first) == .success)
        #expect(await world.run("photos", "restore", "city.jpg") == .usage)
        #expect(await world.run("photos", "restore", "none.jpg") == .noInput)
    }
}
