import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct AuthenticationTests {
    @Test("the account is told to a bearer token in the header, the query and the form's place")
    func bearer() async throws {
        try await TestServer.run { server in
            let account = try await server.get("/1/account/info")
            #expect(account.status == 200)
            #expect(
                try account.names() == [
                    "byteclub", "country", "display_name", "email", "email_verified", "is_paired", "locale",
                    "name_details", "quota_info", "referral_link", "role", "team", "uid",
                ])
            let told: Account = try account.decoded()
            #expect(told.uid == server.member.uid && told.displayName == "Ann Bell")
            let extensions = Account.Extensions(
                version: 1, conditionalDelete: true, sync: true, links: true, history: true, contentSearch: true,
                photoSearch: true, bulkChunks: true)
            #expect(told.extensions == extensions)
            #expect(told.quotaInfo.quota > 0)
            let query = try await server.send("GET /1/account/info?access_token=\(server.member.token)", [])
            #expect(query.status == 200)
            let form = try await server.send(
                "POST /1/delta", ["Content-Type: application/x-www-form-urlencoded"],
                body: Array("access_token=\(server.member.token)".utf8))
            #expect(form.status == 200)
        }
    }

    @Test("OAuth 1 PLAINTEXT works in both header layouts and as parameters; a wrong secret is 401")
    func oauth1() async throws {
        try await TestServer.run { server in
            let keys = try #require(server.member.oauth1)
            let signature = "\(keys.consumerSecret)&\(keys.tokenSecret)"
            func header(_ separator: String, _ signature: String) -> String {
                "Authorization: OAuth "
                    + [
                        #"oauth_version="1.0""#, #"oauth_signature_method="PLAINTEXT""#,
                        #"oauth_consumer_key="\#(keys.consumerKey)""#, #"oauth_token="\#(keys.token)""#,
                        #"oauth_signature="\#(signature)""#,
                    ].joined(separator: separator)
            }
            for separator in [",", ", "] {
                let good = try await server.send("GET /1/account/info", [header(separator, signature)])
                #expect(good.status == 200)
            }
            let wrong = try await server.send("GET /1/account/info", [header(", ", signature + "x")])
            #expect(wrong.status == 401)
            let query =
                "oauth_consumer_key=\(keys.consumerKey)&oauth_token=\(keys.token)&oauth_signature_method=PLAINTEXT"
                + "&oauth_signature=\(keys.consumerSecret)%26\(keys.tokenSecret)"
            #expect(try await server.send("GET /1/account/info?\(query)", []).status == 200)
            let other = header(", ", "x").replacing("PLAINTEXT", with: "RSA-SHA1")
            let refused = try await server.send("GET /1/account/info", [other])
            #expect(refused.status == 403)
            #expect(try refused.refusal().contains("PLAINTEXT"))
        }
    }

    @Test("no token and an unknown or removed one are 401, a malformed header is 403, and nothing is stored")
    func refusals() async throws {
        try await TestServer.run { server in
            for (fields, status) in [
                ([], 401), (["Authorization: Bearer " + String(repeating: "0", count: 64)], 401),
                (["Authorization: Bearer"], 403), (["Authorization: Basic YTpi"], 403), (["Authorization: x"], 403),
            ] {
                let answer = try await server.send("PUT /1/files_put/auto/a.md", fields, body: [1, 2, 3])
                #expect(answer.status == status)
                #expect(try !answer.refusal().isEmpty)
            }
            #expect(try await server.get("/1/metadata/auto/a.md").status == 404)
            try await server.store.removeMember(name: "Ann Bell", evenTheLast: true)
            #expect(try await server.get("/1/account/info").status == 401)
        }
    }
}
