import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct CrossOriginTests {
    @Test("a page of another origin may call the API and read its answers, and no page of the server")
    func pages() async throws {
        try await TestServer.run { server in
            let origin = "Origin: https://app.example"
            let preflight = try await server.send(
                "OPTIONS /1/files_put/auto/a.md",
                [origin, "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: authorization"])
            #expect(preflight.status == 204 && preflight["Access-Control-Allow-Origin"] == "*")
            #expect(preflight["Access-Control-Allow-Methods"]?.contains("PUT") == true)
            #expect(preflight["Access-Control-Allow-Headers"]?.contains("Authorization") == true)
            #expect(preflight["Access-Control-Allow-Credentials"] == nil)
            let answer = try await server.send("GET /1/account/info", [server.bearer, origin])
            #expect(answer.status == 200 && answer["Access-Control-Allow-Origin"] == "*")
            let exposed = answer["Access-Control-Expose-Headers"] ?? ""
            #expect(exposed.contains("X-Dropbox-Metadata") && exposed.contains("Content-Range"))
            let refused = try await server.send("GET /1/account/info", [origin])
            #expect(refused.status == 401 && refused["Access-Control-Allow-Origin"] == "*")
            #expect(try await server.get("/1/account/info")["Access-Control-Allow-Origin"] == nil)
            #expect(try await server.send("OPTIONS /1/account/info").status == 405)
            try await server.store("/a.md")
            let url = try await server.post("/1/shares/auto/a.md").text("url")
            let target = url.split(separator: "/").dropFirst(2).joined(separator: "/")
            let page = try await server.send("GET /\(target)", [origin])
            #expect(page.status == 200 && page["Access-Control-Allow-Origin"] == nil)
        }
    }
}
