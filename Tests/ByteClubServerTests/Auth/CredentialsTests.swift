import ByteClubCore
import Testing

@testable import ByteClubServer

@Suite struct CredentialsTests {
    private func read(_ header: String?, query: String = "") throws -> Credentials {
        try Credentials(authorization: header, parameters: Parameters(query: query[...]))
    }

    private func status(_ header: String?, query: String = "") -> Int? {
        do {
            _ = try read(header, query: query)
            return nil
        } catch {
            return (error as? APIError)?.status
        }
    }

    @Test("both layouts of the OAuth 1 header that are in the wild are read")
    func layouts() throws {
        let documented =
            #"OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="KEY", "#
            + #"oauth_token="TOKEN", oauth_signature="APPSECRET&TOKENSECRET""#
        let python =
            #"OAuth oauth_consumer_key="KEY",oauth_timestamp="1376000000",oauth_nonce="12345678","#
            + #"oauth_version="1.0",oauth_token="TOKEN",oauth_signature_method="PLAINTEXT","#
            + #"oauth_signature="APPSECRET&TOKENSECRET""#
        for header in [documented, python, python.replacing("APPSECRET&", with: "APPSECRET%26")] {
            guard case .oauth1(let signed, _) = try read(header) else {
                Issue.record("not OAuth 1")
                return
            }
            #expect(signed.consumerKey == "KEY" && signed.token == "TOKEN")
            #expect(signed.isSigned(consumerSecret: "APPSECRET", tokenSecret: "TOKENSECRET") { "" })
            #expect(!signed.isSigned(consumerSecret: "APPSECRET", tokenSecret: "OTHER") { "" })
        }
    }

    @Test("OAuth 1 and bearer tokens may be parameters; the header wins")
    func parameters() throws {
        let query = "oauth_consumer_key=KEY&oauth_token=T&oauth_signature_method=PLAINTEXT&oauth_signature=a%26b"
        guard case .oauth1(let signed, _) = try read(nil, query: query) else {
            Issue.record("not OAuth 1")
            return
        }
        #expect(signed.isSigned(consumerSecret: "a", tokenSecret: "b") { "" })
        #expect(try read(nil, query: "access_token=abc") == .bearer("abc"))
        #expect(try read("Bearer header", query: "access_token=query") == .bearer("header"))
        #expect(try read("bearer x.y-z_~+/=") == .bearer("x.y-z_~+/="))
    }

    @Test("no credentials are 401")
    func missing() {
        #expect(status(nil) == 401)
        #expect(status(nil, query: "access_token=") == 401)
    }

    @Test(
        "a malformed header, an unsupported scheme or method and a missing OAuth parameter are 403",
        arguments: [
            "", "Bearer", "Bearer a b", "Basic YTpi", "OAuth", "OAuth x", #"OAuth oauth_token="T""#,
            #"OAuth oauth_token="T", oauth_token="T""#, #"OAuth oauth_token=T"#, #"OAuth oauth_token="%zz""#,
            #"OAuth oauth_consumer_key="K", oauth_token="T", oauth_signature_method="HMAC-SHA1", oauth_signature="s""#,
            #"OAuth oauth_version="2.0", oauth_consumer_key="K", oauth_token="T", oauth_signature_method="PLAINTEXT", oauth_signature="s""#,
        ])
    func malformed(header: String) {
        #expect(status(header) == 403)
    }
}
