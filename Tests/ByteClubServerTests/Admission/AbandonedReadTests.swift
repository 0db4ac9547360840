import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

/// What a viewer gains by asking for much and not waiting for it: nothing.
@Suite struct AbandonedReadTests {
    @Test("a viewer's long query costs the server nothing but a refusal")
    func longQueries() async throws {
        try await TestServer.run { server in
            try await server.store("/Texts%20about%20caf%C3%A9s.md")
            let viewer = try await server.add("Vic", .viewer)
            for query in [
                String(repeating: "a", count: SearchQuery.maximumBytes + 1),
                (0...SearchQuery.maximumWords).map { "w\($0 + 10)" }.joined(separator: "+"),
            ] {
                let answer = try await server.send("GET /1/search/auto?query=\(query)", [viewer])
                #expect(answer.status == 400)
                #expect(try answer.refusal().contains("the query "))
            }
            // What is said twice, or in another word, is no more to look for.
            let same = (0..<150).map { ["cafe", "caf", "text"][$0 % 3] }.joined(separator: "+")
            let found = try await server.send("GET /1/search/auto?query=\(same)", [viewer])
            #expect(found.status == 200 && found.text.contains("Texts about"))
        }
    }

    @Test("searches that a viewer does not wait for keep nobody from the server, and are over at once")
    func abandonedSearches() async throws {
        try await TestServer.run { server in
            let viewer = try await server.add("Vic", .viewer)
            let pool = server.club.shares.searches
            var places: [FairSemaphore.Lease] = []
            for member in 0..<pool.bounds.total { places.append(try pool.take(for: .member(Int64(1000 + member)))) }
            let request = Array("GET /1/search/auto?query=a HTTP/1.1\r\nHost: x\r\n\(viewer)\r\n\r\n".utf8)
            var crowd: Crowd? = Crowd(pool.bounds.queueOfRequester + 4, port: server.port)
            #expect(crowd?.send(request) == crowd?.count)
            var refused = 0
            try await eventually("four are too many") {
                refused += crowd?.look(upTo: 12).count { $0 == "HTTP/1.1 429" } ?? 0
                return refused == 4 && pool.waiting == pool.bounds.queueOfRequester
            }
            // All places are taken, and the viewer's queue is full: others read and save as ever.
            #expect(try await server.get("/1/account/info").status == 200)
            #expect(try await server.get("/1/metadata/auto/").status == 200)
            try await server.store("/a.md")
            crowd = nil
            try await eventually("nobody waits for those who have gone") { pool.waiting == 0 }
            places.removeAll()
            let served = try await server.send("GET /1/search/auto?query=a", [viewer])
            #expect(served.status == 200)
            #expect(pool.used == 0)
        }
    }

    @Test("a read of the database ends when nobody waits for it any more", .timeLimit(.minutes(2)))
    func endlessRead() async throws {
        try await TestServer.run { server in
            let store = server.store
            let endless = Task {
                try await store.query { database in
                    try Int.fetchOne(
                        database,
                        sql: "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n")
                }
            }
            try await Task.sleep(for: .milliseconds(50))
            endless.cancel()
            await #expect(throws: CancellationError.self) { try await endless.value }
        }
    }

    @Test("listings that a viewer does not read take no more memory than a share")
    func unreadListings() async throws {
        try await TestServer.run { server in
            let viewer = try await server.add("Vic", .viewer)
            let name = String(repeating: "n", count: 200)
            let id = server.member.uid
            try await server.store.write(by: id, storing: []) { folder in
                for number in 0..<8000 {
                    _ = try folder.createFolder(try RemotePath("/\(name) \(number)"))
                }
            }
            let pool = server.club.shares.answers
            let size = try await server.get("/1/metadata/auto/").body.count
            let request = Array("GET /1/metadata/auto/ HTTP/1.1\r\nHost: x\r\n\(viewer)\r\n\r\n".utf8)
            var crowd: Crowd? = Crowd(pool.bounds.member / size + 4, port: server.port)
            #expect(crowd?.send(request) == crowd?.count)
            var refused = 0
            try await eventually("the viewer has a share, and no more") {
                refused += crowd?.look(upTo: 12).count { $0 == "HTTP/1.1 429" } ?? 0
                return refused >= 2
            }
            #expect(pool.used <= pool.bounds.member)
            // The owner's own share is not touched.
            #expect(try await server.get("/1/metadata/auto/").body.count == size)
            crowd = nil
            try await eventually("the memory is back") { pool.used == 0 }
        }
    }
}
