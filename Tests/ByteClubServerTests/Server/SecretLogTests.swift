import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct SecretLogTests {
    /// Something to look for that no server writes by itself.
    private static let secret = "pl4ntedSECRETpl4nted"

    @Test(
        "planted secrets are in no line of the log and in no refusal, in text and as JSON",
        arguments: LogFormat.allCases)
    func planted(format: LogFormat) async throws {
        try await TestServer.run(adjusting: { $0.logFormat = format }) { server in
            let secret = Self.secret
            let form = "Content-Type: application/x-www-form-urlencoded"
            let requests: [(line: String, fields: [String], body: String)] = [
                ("GET /1/account/info", ["Authorization: Bearer \(secret)"], ""),
                ("GET /1/account/info", ["Authorization: Basic \(secret)"], ""),
                ("GET /1/account/info", ["Authorization: \(secret)"], ""),
                ("GET /1/account/info", ["Authorization: Bearer \(secret) \u{e9}"], ""),
                (
                    "GET /1/account/info",
                    [#"Authorization: OAuth oauth_token="\#(secret)", oauth_signature="\#(secret)""#], ""
                ),
                (
                    "GET /1/account/info",
                    [
                        #"Authorization: OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", "#
                            + #"oauth_consumer_key="\#(secret)", oauth_token="\#(secret)", oauth_signature="\#(secret)&x""#
                    ], ""
                ),
                (
                    "GET /1/account/info",
                    [
                        #"Authorization: OAuth oauth_signature_method="\#(secret)", oauth_nonce="\#(secret)", "#
                            + #"oauth_version="\#(secret)", oauth_consumer_key="k", oauth_token="t", oauth_signature="s""#
                    ], ""
                ),
                ("GET /1/account/info?access_token=\(secret)", [], ""),
                (
                    "GET /1/account/info?oauth_token=\(secret)&oauth_signature=\(secret)&oauth_consumer_key=\(secret)",
                    [], ""
                ),
                ("GET /1/account/info?access_token=\(secret)%", [], ""),
                (
                    "GET /1/account/info?\(secret)=1", [server.bearer, "Cookie: byteclub=\(secret); other=\(secret)"],
                    ""
                ),
                ("GET /1/longpoll_delta?cursor=\(secret)&timeout=\(secret)", [], ""),
                ("POST /1/delta", [server.bearer, form], "cursor=\(secret)"),
                ("POST /1/delta", [form], "access_token=\(secret)"),
                ("POST /1/delta", [form], "access_token=\(secret)%zz"),
                ("GET /1/view/\(secret)/photo.jpg", [], ""), ("GET /1/view/\(secret)", [], ""),
                ("GET /%31/view/\(secret)/x", [], ""), ("GET //1//view//\(secret)", [], ""),
                ("GET /1%2Fview%2F\(secret)", [], ""), ("GET /1/view/\(secret)%", [], ""),
                ("GET http://x/1/view/\(secret)", [], ""), ("GET /s/\(secret)/a.jpg?dl=\(secret)", [], ""),
                ("GET /s/\(secret)?dl=1", [], ""), ("GET /invite/\(secret)", [], ""),
                ("POST /invite/\(secret)", [form], "name=x"),
                ("GET /reset/\(secret)", [], ""), ("POST /reset/\(secret)", [form], "new=\(secret)"),
                ("POST /1/sync/password", [server.bearer, form], "password=short&current=\(secret)"),
                ("POST /login", [form], "name=ann&password=\(secret)&csrf=\(secret)"),
                ("POST /1/oauth2/token", [form], "grant_type=\(secret)&code=\(secret)&client_secret=\(secret)"),
                (
                    "POST /1/oauth2/token", ["Authorization: Basic \(secret)", form],
                    "grant_type=authorization_code&code=\(secret)"
                ),
                ("POST /1/oauth2/token", [form], "grant_type=device_code&device_code=\(secret)&client_id=byteclub"),
                ("POST /1/oauth/request_token", [#"Authorization: OAuth oauth_consumer_key="\#(secret)""#], ""),
                ("PUT /1/files_put/auto/a.md", [server.bearer, "Content-Type: text/\(secret)"], secret),
                ("PUT /1/files_put/auto/a.md?parent_rev=\(secret)", [server.bearer], secret),
                ("PUT /1/chunked_upload?upload_id=\(secret)&offset=0", [server.bearer], secret),
                ("POST /1/commit_chunked_upload/auto/b.md", [server.bearer, form], "upload_id=\(secret)"),
                ("GET /1/account/info", [server.bearer, "X-Forwarded-For: \(secret)", "User-Agent: \(secret)"], ""),
                ("GET /1/account/info", [server.bearer, "Referer: http://x/s/\(secret)"], ""),
                ("\(secret) /1/account/info", [], ""),
            ]
            for (line, fields, body) in requests {
                let answer = try await server.send(line, fields, body: Array(body.utf8))
                let told = answer.start + answer.fields.map { "\($0.name): \($0.value)\n" }.joined() + answer.text
                #expect(!told.contains(secret) || answer.status == 200, "\(line): \(told)")
            }
            // The last has no method, so it is no request.
            let lines = try await server.log.lines(atLeast: requests.count - 1)
            for line in lines where line.contains(secret) { Issue.record("\(line)") }
        }
    }

    @Test("what may be shown of a path is shown, and JSON lines are objects with the same fields")
    func shown() async throws {
        #expect(RequestTarget.loggable("/1/files/auto/a%20b.md?x=1") == "/1/files/auto/a%20b.md")
        #expect(RequestTarget.loggable("/1/view") == "/1/view")
        #expect(RequestTarget.loggable("/1/view/abc/def") == "/1/view/_")
        #expect(RequestTarget.loggable("/s/abc?x") == "/s/_")
        #expect(RequestTarget.loggable("/1/files/auto/s/abc") == "/1/files/auto/s/abc")
        #expect(RequestTarget.loggable("/%zz") == "(undecodable)")
        try await TestServer.run(adjusting: { $0.logFormat = .json }) { server in
            try await server.store("/a.md", "12345")
            let line = try #require(await server.log.line { $0.contains("files_put") })
            let fields = try JSONReader.fields(of: line)
            #expect(
                fields["method"] == "PUT" && fields["path"] == "/1/files_put/auto/a.md" && fields["status"] == "200")
            #expect(fields["in"] == "5" && fields["uid"] == "\(server.member.uid)" && fields["peer"] == "127.0.0.1")
            #expect(fields["level"] == "info" && fields["time"]?.hasSuffix("Z") == true && fields["id"] != nil)
            #expect(Double(fields["ms"] ?? "") != nil && !line.dropLast().contains("\n"))
        }
    }
}

extension JSONReader {
    /// The members of an object of plain values, as texts.
    fileprivate static func fields(of line: String) throws -> [String: String] {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        return object.mapValues { "\($0)" }
    }
}
