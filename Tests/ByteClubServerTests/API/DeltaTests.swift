import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct DeltaTests {
    @Test("the first page resets, later ones tell what changed, a deletion as null")
    func pages() async throws {
        try await TestServer.run { server in
            try await server.store("/Notes/a.md")
            let answer = try await server.post("/1/delta")
            #expect(try answer.names() == ["cursor", "entries", "has_more", "reset"])
            let first: DeltaPage = try answer.decoded()
            #expect(first.reset && !first.hasMore)
            #expect(first.entries.map(\.key.string) == ["/notes", "/notes/a.md"])
            #expect(answer.text.contains(#"["/notes/a.md",{"path":"/Notes/a.md""#))
            let same = try await server.post("/1/delta", "cursor=\(first.cursor)").decoded(DeltaPage.self)
            #expect(!same.reset && same.entries.isEmpty)
            #expect(try await server.post("/1/fileops/delete", "path=/notes/A.md").status == 200)
            let gone = try await server.post("/1/delta?cursor=\(same.cursor)")
            #expect(gone.text.contains(#"["/notes/a.md",null]"#))
        }
    }

    @Test("pages hold 2,000 entries, and together they hold everything once")
    func paging() async throws {
        try await TestServer.run { server in
            let uid = server.member.uid
            try await server.store.write(by: uid, storing: nil) { folder in
                for number in 0..<4100 { _ = try folder.createFolder(try RemotePath("/f\(number)")) }
            }
            var cursor = ""
            var keys: Set<String> = []
            for (count, more) in [(2000, true), (2000, true), (100, false)] {
                let page = try await server.post("/1/delta", "cursor=\(cursor)").decoded(DeltaPage.self)
                #expect(page.entries.count == count && page.hasMore == more && page.reset == cursor.isEmpty)
                keys.formUnion(page.entries.map(\.key.string))
                cursor = page.cursor
            }
            #expect(keys.count == 4100)
        }
    }

    @Test("a prefix limits the pages; it may become narrower and not otherwise change")
    func prefixes() async throws {
        try await TestServer.run { server in
            try await server.store("/a/x/1.md")
            try await server.store("/b/2.md")
            func page(_ form: String) async throws -> RawMessage { try await server.post("/1/delta", form) }
            let limited = try await page("path_prefix=/A").decoded(DeltaPage.self)
            #expect(limited.entries.map(\.key.string) == ["/a", "/a/x", "/a/x/1.md"])
            #expect(try await page("path_prefix=/none").decoded(DeltaPage.self).entries.isEmpty)
            #expect(try await page("path_prefix=/").decoded(DeltaPage.self).entries.count == 5)
            let cursor = limited.cursor
            for (form, status) in [
                ("path_prefix=/a", 200), ("path_prefix=a/x", 200), ("", 400), ("path_prefix=/b", 400),
                ("path_prefix=/a&include_media_info=true", 400), ("path_prefix=/a/../b", 400),
            ] {
                #expect(try await page("cursor=\(cursor)&\(form)").status == status, "\(form)")
            }
        }
    }

    @Test("a cursor that is malformed, forged or another member's is 400, and nothing else")
    func cursors() async throws {
        try await TestServer.run { server in
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            let other = try await server.store.addMember(name: "Ben", role: nil, oauth1: false)
            let stolen = try await server.send(
                "POST /1/delta?cursor=\(cursor)", ["Authorization: Bearer \(other.token)"])
            #expect(stolen.status == 400)
            for wrong in ["x", cursor + "0", String(cursor.dropLast()) + (cursor.hasSuffix("0") ? "1" : "0")] {
                #expect(try await server.post("/1/delta", "cursor=\(wrong)").status == 400)
                #expect(try await server.send("GET /1/longpoll_delta?cursor=\(wrong)", []).status == 400)
            }
        }
    }

    @Test("the latest cursor has nothing before it")
    func latest() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md")
            let answer = try await server.post("/1/delta/latest_cursor")
            #expect(try answer.names() == ["cursor"])
            let texts = try JSONDecoder().decode([String: String].self, from: Data(answer.body))
            let cursor = texts["cursor"] ?? ""
            #expect(try await server.post("/1/delta", "cursor=\(cursor)").decoded(DeltaPage.self).entries.isEmpty)
            try await server.store("/b.md")
            let page = try await server.post("/1/delta", "cursor=\(cursor)").decoded(DeltaPage.self)
            #expect(page.entries.map(\.key.string) == ["/b.md"] && !page.reset)
        }
    }

    @Test("a long poll needs no token, wakes with a change, and ends with its timeout")
    func longpoll() async throws {
        try await TestServer.run(adjusting: { $0.settings.longpollMinimum = 0 }) { server in
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            func poll(_ query: String) async throws -> RawMessage {
                try await server.send("GET /1/longpoll_delta?cursor=\(cursor)\(query)", [])
            }
            #expect(try await poll("&timeout=0").text == #"{"changes":false}"#)
            async let waiting = poll("&timeout=60")
            try await server.store("/a.md")
            #expect(try await waiting.text == #"{"changes":true}"#)
            #expect(try await poll("&timeout=60").text == #"{"changes":true}"#)
            #expect(try await poll("&timeout=481").status == 400)
            #expect(try await poll("&timeout=x").status == 400)
            #expect(try await server.send("GET /1/longpoll_delta", []).status == 400)
            let media = try await server.post("/1/delta", "include_media_info=true").decoded(DeltaPage.self).cursor
            #expect(try await server.send("GET /1/longpoll_delta?cursor=\(media)", []).status == 400)
        }
    }

    @Test("a long poll under thirty seconds is 400 unless a test allows it")
    func minimum() async throws {
        try await TestServer.run { server in
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            #expect(try await server.send("GET /1/longpoll_delta?cursor=\(cursor)&timeout=29", []).status == 400)
        }
    }
}
