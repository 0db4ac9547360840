import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A mirror that is refused") struct RefusedMirrorTests {
        @Test(
            "ends by itself with 77 when its member is removed, says why in one line and keeps its files",
            arguments: Wire.tried)
        func removed(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            try LocalFiles.write("one\n", to: ann.mirror + "/trips/one.md")
            let process = try ann.start(["sync", ann.mirror])
            try await eventually("the first note goes up") {
                try await club.api.hashes()["/byteclub/trips/one.md"] != nil
            }
            let removal = try await Program.run("byteclub", ["members", "remove", "ann", "--data", club.server.data])
            #expect(removal.status == 0, "\(removal)")
            // Nothing changes on either side: the mirror only waits.
            let result = await process.result()
            #expect(result.status == 77, "\(result)")
            #expect(result.errorLines.count { $0.contains("sign in again") } == 1, "\(result)")
            #expect(FileTree(ann.mirror).files == ["trips/one.md"])
            #expect(Fixture.bytes(at: ann.mirror + "/trips/one.md") == Array("one\n".utf8))
        }

        @Test(
            "goes on when a proxy or a portal has answered for the club for a while", arguments: [401, 403, 404, 407])
        func portal(status: Int) async throws {
            let liar = try await LiarClub.start(.usual)
            let ann = liar.ann
            try LocalFiles.write("one\n", to: ann.mirror + "/one.md")
            let process = try ann.start(["sync", ann.mirror])
            try await eventually("the first note goes up") {
                try await liar.club.api.hashes()["/byteclub/one.md"] != nil
            }
            liar.lie.withLock { $0 = (.own(LyingProxy.refusal(status)), "/1/") }
            try LocalFiles.write("two\n", to: ann.mirror + "/two.md")
            try await eventually("several calls are refused") { liar.proxy.count >= 5 || process.hasEnded }
            liar.lie.withLock { $0 = nil }
            try await eventually("the second note goes up") {
                try await liar.club.api.hashes()["/byteclub/two.md"] != nil || process.hasEnded
            }
            #expect(!process.hasEnded)
            process.send(SIGINT)
            let result = await process.result()
            #expect(result.status == 130, "\(result)")
            #expect(FileTree(ann.mirror).files == ["one.md", "two.md"])
        }
    }
}
