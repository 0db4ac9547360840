import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("byteclub open")
struct OpenCommandTests {
    @Test("the gallery, a note and a photo are opened in the browser, whatever their names hold")
    func browser() async throws {
        let world = try World()
        try await world.put("x", "/byteclub/Trips/a b?#é.md")
        try await world.put("x", "/byteclub/photos/ridge.jpg")
        let opened = Mutex<[String]>([])
        var context = world.context()
        context.browser = Browser { url in
            opened.withLock { $0.append(url) }
            return true
        }
        for words in [
            ["open"], ["open", "Trips/a b?#é.md"], ["open", "photos/ridge.jpg"], ["photos", "open", "ridge.jpg"],
        ] {
            #expect(await ByteClub.run(words, in: context) == .success, "\(world.err)")
        }
        #expect(
            opened.withLock(\.self) == [
                "http://127.0.0.1:1/gallery", "http://127.0.0.1:1/gallery/byteclub/Trips/a%20b%3F%23%C3%A9.md",
                "http://127.0.0.1:1/gallery/byteclub/photos/ridge.jpg",
                "http://127.0.0.1:1/gallery/byteclub/photos/ridge.jpg",
            ])
        #expect(world.out.isEmpty)
    }

    @Test("without a browser, with one that does not start and with --print the address is printed")
    func printed() async throws {
        let world = try World()
        try await world.put("x", "/byteclub/trip.md")
        let page = "http://127.0.0.1:1/gallery/byteclub/trip.md\n"
        #expect(await world.run("open", "trip.md") == .success)
        #expect(world.out == page && world.err.isEmpty)
        var context = world.context()
        context.browser = Browser { _ in false }
        #expect(await world.run("open", "trip.md", in: context) == .success)
        #expect(world.out == page)
        context.browser = Browser { _ in
            Issue.record("--print opens nothing")
            return true
        }
        #expect(await world.run("open", "trip.md", "--print", in: context) == .success)
        #expect(world.out == page)
    }

    @Test("what is not there is one line and code 66, and a folder one and 65")
    func missing() async throws {
        let world = try World()
        try await world.put("x", "/byteclub/Trips/a.md")
        try await world.put("x", "/byteclub/gone.md")
        #expect(await world.run("notes", "rm", "gone.md") == .success)
        #expect(await world.run("open", "--print") == .success)
        #expect(world.out == "http://127.0.0.1:1/gallery\n")
        for words in [["open", "no.md"], ["open", "gone.md"], ["photos", "open", "no.jpg"]] {
            #expect(await ByteClub.run(words, in: world.context()) == .noInput, "\(words)")
        }
        #expect(await ByteClub.run(["open", "Trips"], in: world.context()) == .badData)
        #expect(world.err.split(separator: "\n").count == 4, "\(world.err)")
    }
}
