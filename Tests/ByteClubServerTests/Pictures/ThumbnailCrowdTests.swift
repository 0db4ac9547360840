import ByteClubCore
import Glibc
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Thumbnails while others ask for them")
struct ThumbnailCrowdTests {
    private static func fill(_ server: TestServer) async throws {
        let photo = Fixture.bytes("panoramas/city.jpg")
        #expect(try await server.send("PUT /1/files_put/auto/p/city.jpg", body: photo).status == 200)
    }

    private static func link(_ server: TestServer, to path: String) async throws -> String {
        let url = try await server.post("/1/shares/auto\(path)").text("url")
        return "/" + url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true).dropFirst(2).joined()
    }

    @Test(
        "a small photo that an editor planted costs no stranger's request any processor, however often it is asked for")
    func planted() async throws {
        try await TestServer.run { server in
            let photo = CostlyPhoto.jpeg(side: 8000, refinements: 400)
            #expect(try await server.send("PUT /1/files_put/auto/p/trap.jpg", body: photo).status == 200)
            let link = try await Self.link(server, to: "/p/trap.jpg")
            for _ in 1...3 {
                let answer = try await server.send("GET \(link)?picture=1", [])
                #expect(answer.status == 404 && answer.text.contains("too many passes"), "\(answer.text)")
            }
            let answer = try await server.get("/1/thumbnails/auto/p/trap.jpg?size=l")
            #expect(answer.status == 404 && answer.text.contains("not found"))
            let hash = ContentHasher.hash(photo)
            let kept = ThumbnailCache(directory: server.directory + "/thumbnails")
            #expect(kept.read("\(hash)-l.jpeg.refused-\(PictureStore.Makers().thumbnailVersion)") != nil)
        }
    }

    @Test("strangers who hold a link do not keep a member from a thumbnail")
    func strangers() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let link = try await Self.link(server, to: "/p/city.jpg")
            let turns = server.club.shares.renderings
            // As if one stranger's picture took for ever.
            let busy = Mutex<FairSemaphore.Lease?>(try turns.take(for: .stranger(IPAddress("192.0.2.1"))))
            async let late = server.send("GET \(link)?picture=1", [])
            try await eventually("the stranger waits") { turns.waiting == 1 }
            #expect(try await server.get("/1/thumbnails/auto/p/city.jpg?size=m").status == 200)
            #expect(turns.waiting == 1)
            busy.withLock { $0 = nil }
            #expect(try await late.status == 200)
        }
    }

    @Test("clients that ask for pictures and hang up leave no work behind")
    func hangUp() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let turns = server.club.shares.renderings
            let busy = Mutex<FairSemaphore.Lease?>(try turns.take(2, for: .member(99)))
            do {
                let clients = await BackgroundThread.run {
                    ["xs", "s", "m", "xl"].map { size in
                        let client = Crowd(1, port: server.port)
                        let head = [
                            "GET /1/thumbnails/auto/p/city.jpg?size=\(size) HTTP/1.1", "Host: 127.0.0.1",
                            server.bearer, "", "",
                        ]
                        _ = client.send(Array(head.joined(separator: "\r\n").utf8))
                        return client
                    }
                }
                try await eventually("all wait") { turns.waiting == 4 }
                withExtendedLifetime(clients) {}
            }
            try await eventually("nobody waits") { turns.waiting == 0 }
            busy.withLock { $0 = nil }
            #expect(try await server.get("/1/thumbnails/auto/p/city.jpg?size=l").status == 200)
            let hash = ContentHasher.hash(Fixture.bytes("panoramas/city.jpg"))
            let kept = ThumbnailCache(directory: server.directory + "/thumbnails")
            #expect(["xs", "s", "m", "xl"].allSatisfy { kept.read("\(hash)-\($0).jpeg") == nil })
            #expect(kept.read("\(hash)-l.jpeg") != nil)
        }
    }

    @Test("who lists a folder of photos takes no more threads than are due; the rest is told as pending")
    func mediaInfo() async throws {
        try await TestServer.run { server in
            let photo = Fixture.bytes("panoramas/dated.jpg")
            let put = try await server.send("PUT /1/files_put/auto/p/ridge.jpg", body: photo)
            let entry: Metadata = try put.decoded()
            let turns = FairSemaphore("threads", .init(total: 1, strangers: 1, member: 1, network: 1))
            let reader = MediaInfoReader(store: server.store, threads: .singleton, turns: turns)
            let busy = Mutex<FairSemaphore.Lease?>(try turns.take(for: .member(9)))
            #expect(try await reader.describe([entry], for: .member(1)).first?.photoInfo?.isPending == true)
            busy.withLock { $0 = nil }
            #expect(try await reader.describe([entry], for: .member(1)).first?.photoInfo?.taken != nil)
            // What was found once takes no thread again.
            let again = try turns.take(for: .member(9))
            #expect(try await reader.describe([entry], for: .member(1)).first?.photoInfo?.taken != nil)
            withExtendedLifetime(again) {}
        }
    }
}
