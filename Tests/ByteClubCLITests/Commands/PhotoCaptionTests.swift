import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Captions and views of photos") struct PhotoCaptionTests {
    private let note = "/byteclub/photos/city.jpg.md"

    private func world() async throws -> World {
        let world = try World()
        #expect(await world.run("photos", "upload", Fixture.path("panoramas/city.jpg")) == .success, "\(world.err)")
        return world
    }

    @Test("a caption is a note beside the photo; an empty one removes it")
    func caption() async throws {
        let world = try await world()
        #expect(await world.run("photos", "caption", "city.jpg", "The square.") == .success, "\(world.err)")
        #expect(world.out == "saved the caption of 'city.jpg'\n")
        #expect(try await world.text(note) == "The square.\n")
        #expect(await world.run("photos", "caption", "city.jpg") == .success)
        #expect(world.out == "The square.\n")
        #expect(await world.run("photos", "info", "city.jpg") == .success)
        #expect(world.out.contains("caption  The square."), "\(world.out)")
        #expect(await world.run("photos", "caption", "city.jpg", "") == .success)
        #expect(try await world.text(note) == nil)
        #expect(await world.run("photos", "caption", "none.jpg", "x") == .noInput)
        #expect(await world.run("photos", "caption", "city.jpg", "x", "--edit") == .usage)
    }

    @Test("a caption that was removed with its photo comes back with it, and takes the place of no newer one")
    func restored() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", Fixture.path("panoramas/city.jpg")) == .success)
        #expect(await world.run("photos", "caption", "city.jpg", "The square.") == .success)
        #expect(await world.run("photos", "rm", "city.jpg") == .success)
        #expect(await world.run("photos", "restore", "city.jpg") == .success, "\(world.err)")
        #expect(world.out == "restored 'city.jpg'\n")
        #expect(world.err.contains("also restored its caption 'city.jpg.md'"), "\(world.err)")
        #expect(await world.run("photos", "caption", "city.jpg") == .success)
        #expect(world.out == "The square.\n")
        #expect(await world.run("photos", "rm", "city.jpg") == .success)
        try await world.put("Newer", "/byteclub/photos/city.jpg.md")
        #expect(await world.run("photos", "restore", "city.jpg") == .success)
        #expect(!world.err.contains("as well"), "\(world.err)")
        #expect(await world.run("photos", "caption", "city.jpg") == .success)
        #expect(world.out == "Newer\n")
    }

    @Test(
        "a caption that cannot come back now is told with the way to it, and the photo is back",
        arguments: [
            (MemoryOperation.Kind.revisions, RemoteError.Code.serverFault, ByteClubCLI.ExitStatus.tryAgain),
            (.restore, .overQuota, .tryAgain), (.restore, .cancelled, .interrupted),
        ])
    func restoredWithout(_ kind: MemoryOperation.Kind, _ code: RemoteError.Code, _ status: ByteClubCLI.ExitStatus)
        async throws
    {
        let world = try World()
        #expect(await world.run("photos", "upload", Fixture.path("panoramas/city.jpg")) == .success)
        #expect(await world.run("photos", "caption", "city.jpg", "The square.") == .success)
        #expect(await world.run("photos", "rm", "city.jpg") == .success)
        world.server.fault = { operation throws(RemoteError) in
            let isOfCaption = operation.path?.name == "city.jpg.md" && operation.moment == .before
            if operation.kind == kind, isOfCaption { throw RemoteError(code, "the disk is full") }
        }
        #expect(await world.run("photos", "restore", "city.jpg") == status)
        world.server.fault = nil
        #expect(world.out == "restored 'city.jpg'\n")
        let way = "byteclub notes restore photos/city.jpg.md"
        #expect(world.err.contains("the disk is full") && world.err.contains("'\(way)'"), "\(world.err)")
        #expect(await world.run("notes", "restore", "photos/city.jpg.md") == .success, "\(world.err)")
        #expect(try await world.text(note) == "The square.\n")
    }

    @Test("a chosen view is kept with the caption, counts for info, and 'auto' takes it back")
    func view() async throws {
        let world = try await world()
        #expect(await world.run("photos", "caption", "city.jpg", "The square.") == .success)
        #expect(await world.run("photos", "set-view", "city.jpg", "strip") == .success, "\(world.err)")
        #expect(try await world.text(note) == "---\nview: strip\n---\nThe square.\n")
        #expect(await world.run("photos", "info", "city.jpg") == .success)
        #expect(world.out.contains("long strip"), "\(world.out)")
        #expect(await world.run("photos", "caption", "city.jpg", "") == .success)
        #expect(try await world.text(note)?.contains("view: strip") == true)
        #expect(await world.run("photos", "set-view", "city.jpg", "auto") == .success)
        #expect(try await world.text(note) == nil)
        #expect(await world.run("photos", "set-view", "city.jpg", "cube") == .usage)
    }

    @Test("a caption that somebody changed meanwhile is kept, and the end is 75")
    func revisionGuard() async throws {
        let world = try await world()
        try await world.put("Mine.\n", note)
        let photo = try RemotePath("/byteclub/photos/city.jpg")
        var stale = try await PhotoNote(of: photo, world.server)
        try await world.put("Theirs.\n", note)
        stale.caption.text = "Late.\n"
        let failure = await #expect(throws: Failure.self) { try await stale.save(world.server) }
        #expect(failure?.status == .tryAgain)
        #expect(try await world.text(note) == "Theirs.\n")
    }

    @Test("a photo's caption is removed with it, and a photo without one alone")
    func remove() async throws {
        let world = try await world()
        try await world.put("Mine.\n", note)
        #expect(await world.run("photos", "rm", "city.jpg") == .success, "\(world.err)")
        #expect(world.out == "removed 'city.jpg'\nremoved 'city.jpg.md'\n")
        try await world.put("x", "/byteclub/photos/bare.jpg")
        #expect(await world.run("photos", "rm", "bare.jpg") == .success && world.err.isEmpty, "\(world.err)")
        #expect(world.out == "removed 'bare.jpg'\n")
    }

    @Test("in a pipe 'show' tells what 'info' tells")
    func show() async throws {
        let world = try await world()
        #expect(await world.run("photos", "info", "city.jpg") == .success)
        let info = world.out
        #expect(await world.run("photos", "show", "city.jpg") == .success, "\(world.err)")
        #expect(world.out == info && !info.contains("\u{1B}"))
        for view in ["1", "1,2,3,4", "x,0", "0,91", "0,0,0"] {
            #expect(await world.run("photos", "show", "city.jpg", "--view", view) == .usage, "\(view)")
        }
    }
}
