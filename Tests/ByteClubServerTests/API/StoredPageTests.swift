import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("What members stored is no page of the club's") struct StoredPageTests {
    @Test(
        "a stored page, picture with scripts, style or script is shown as text on the club's origin, and loads nothing",
        arguments: ["html", "HTM", "svg", "xml", "css", "js"])
    func activeContent(_ ending: String) async throws {
        try await TestServer.run { server in
            let text = "<html><img src='https://evil.example/seen'>"
            try await server.store("/f/evil.\(ending)", text)
            let share = try await path(try await server.post("/1/shares/auto/f/evil.\(ending)"))
            let media = try await path(try await server.post("/1/media/auto/f/evil.\(ending)"))
            for line in ["GET /1/files/auto/f/evil.\(ending)", "GET \(media)", "GET \(share)?dl=1"] {
                let answer = try await server.send(line)
                #expect(answer.status == 200 && answer.text == text, "\(line)")
                #expect(answer["Content-Type"] == "text/plain; charset=UTF-8", "\(line)")
                #expect(answer["Content-Security-Policy"] == "sandbox; default-src 'none'", "\(line)")
                #expect(answer["X-Content-Type-Options"] == "nosniff", "\(line)")
            }
            let metadata = try await server.get("/1/metadata/auto/f/evil.\(ending)").decoded(Metadata.self)
            #expect(metadata.mimeType != nil && metadata.mimeType != "text/plain", "its own type is still told")
        }
    }

    @Test("pictures, films, sounds, notes and documents keep their types")
    func passiveContent() async throws {
        try await TestServer.run { server in
            let types = [
                "jpg": "image/jpeg", "png": "image/png", "mp4": "video/mp4", "mp3": "audio/mpeg",
                "pdf": "application/pdf", "md": "text/markdown; charset=UTF-8", "json": "application/json",
                "xhtml": "application/octet-stream",
            ]
            for (ending, type) in types {
                try await server.store("/a.\(ending)")
                let answer = try await server.get("/1/files/auto/a.\(ending)")
                #expect(answer["Content-Type"] == type)
                #expect(answer["Content-Security-Policy"] == "sandbox; default-src 'none'")
            }
        }
    }

    @Test("no answer leaves it to a browser to guess what it is")
    func nosniff() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let share = try await path(try await server.post("/1/shares/auto/a.md"))
            for (line, status) in [
                ("GET /1/account/info", 200), ("GET /1/metadata/auto/a.md", 200), ("GET /1/metadata/auto/none", 404),
                ("GET /1/nothing", 404), ("DELETE /1/delta", 405), ("GET /1/metadata/wrong", 400),
                ("POST /1/delta", 200), ("GET /1/files/auto/a.md", 200), ("GET \(share)", 200), ("GET /s/x", 404),
                ("GET /", 303), ("GET /login", 200), ("GET /assets/style.css", 200), ("GET /invite/x", 404),
                ("OPTIONS /1/delta", 405), ("GET /1/sync/changes", 200), ("GET /1/thumbnails/auto/a.md", 404),
            ] {
                let answer = try await server.send(line)
                #expect(answer.status == status, "\(line)")
                #expect(answer["X-Content-Type-Options"] == "nosniff", "\(line)")
            }
            #expect(try await server.send("GET /1/account/info", [])["X-Content-Type-Options"] == "nosniff")
        }
    }

    /// The part of a link's URL after the host.
    private func path(_ answer: RawMessage) async throws -> String {
        "/" + (try answer.text("url")).split(separator: "/").dropFirst(2).joined(separator: "/")
    }
}
