import TestSupport
import Testing

extension EndToEnd {
    @Suite("Requests made by hand") struct HandMadeRequestTests {
        @Test("a path traversal is refused with 400 and shows nothing of the server's machine")
        func traversal() async throws {
            let club = try await Club.start()
            try LocalFiles.write("the server's secret", to: club.folder.path + "/secret.txt")
            let before = try await club.api.fingerprint()
            let climbs = [
                "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2F..%2Fetc%2Fpasswd", "%2e%2e%2fetc/passwd",
                "byteclub/../../../etc/passwd", "byteclub/%2E%2E/%2E%2E/etc/passwd", "..", "%2e", "byteclub/..%5cx",
                "../secret.txt", "%2e%2e%2fsecret.txt", "./etc/passwd",
            ]
            for climb in climbs {
                let requests = [
                    ("GET /1/files/dropbox/\(climb)", 0), ("GET /1/metadata/dropbox/\(climb)", 0),
                    ("PUT /1/files_put/dropbox/\(climb)", 4), ("GET /1/thumbnails/dropbox/\(climb)", 0),
                    ("GET /1/revisions/dropbox/\(climb)", 0),
                    ("POST /1/fileops/delete?root=dropbox&path=/\(climb)", 0),
                    ("POST /1/fileops/copy?root=dropbox&from_path=/byteclub&to_path=/\(climb)", 0),
                ]
                for (line, length) in requests {
                    let answer = await RawExchange.send(
                        line, fields: [Self.authorization(club), "Content-Length: \(length)"],
                        body: [UInt8](repeating: 65, count: length), port: club.server.port)
                    let text = answer?.text ?? ""
                    #expect(answer?.status == 400, "\(line): \(answer?.start ?? "no answer") \(text.prefix(200))")
                    #expect(!text.contains("root:") && !text.contains("secret of"))
                    #expect(text.hasPrefix("{"), "\(line): \(text.prefix(200))")
                }
            }
            #expect(try await club.api.fingerprint() == before)
            #expect(Fixture.bytes(at: club.folder.path + "/secret.txt") == Array("the server's secret".utf8))
        }

        @Test("a body over the limit is refused by its announced length, without waiting for it")
        func oversized() async throws {
            let club = try await Club.start()
            let before = try await club.api.fingerprint()
            for line in ["PUT /1/files_put/dropbox/byteclub/big.bin", "PUT /1/chunked_upload"] {
                let clock = ContinuousClock()
                let start = clock.now
                let answer = await RawExchange.send(
                    line, fields: [Self.authorization(club), "Content-Length: 157286401"], port: club.server.port)
                #expect(answer?.status == 400, "\(line): \(answer?.start ?? "no answer")")
                #expect(clock.now - start < .seconds(20), "the server waited for the body")
            }
            #expect(try await club.api.fingerprint() == before)
        }

        @Test("a body cut short or without a length stores nothing")
        func cutShort() async throws {
            let club = try await Club.start()
            let before = try await club.api.fingerprint()
            let port = club.server.port
            let head = "PUT /1/files_put/dropbox/byteclub/cut.md HTTP/1.1\r\nHost: x\r\n\(Self.authorization(club))\r\n"
            await BackgroundThread.run {
                guard let connection = RawConnection(port: port) else { return }
                connection.send(Array("\(head)Content-Length: 1000\r\n\r\nonly this".utf8))
            }
            await BackgroundThread.run {
                guard let connection = RawConnection(port: port) else { return }
                connection.send(
                    Array("\(head)Content-Length: 100000\r\n\r\n".utf8) + [UInt8](repeating: 1, count: 70_000))
                connection.reset()
            }
            let chunked = await RawExchange.send(
                "PUT /1/files_put/dropbox/byteclub/cut.md",
                fields: [Self.authorization(club), "Transfer-Encoding: chunked"],
                body: Array("3\r\nabc\r\n0\r\n\r\n".utf8),
                port: port)
            #expect(chunked?.status == 411, "\(chunked?.start ?? "no answer")")
            #expect(try await club.api.fingerprint() == before)
        }

        @Test("no authorization is 401, a malformed one 401 or 403, each with a JSON error")
        func authorization() async throws {
            let club = try await Club.start()
            let before = try await club.api.fingerprint()
            let headers = [
                nil, "Authorization: Bearer", "Authorization: Bearer ", "Authorization: Bearer not-the-token",
                "Authorization: Bearer a b c", "Authorization: Basic YTpi", "Authorization: \u{e9}\u{e9}",
                "Authorization: OAuth garbage", "Authorization: OAuth oauth_signature_method=\"PLAINTEXT\"",
                "Authorization: OAuth oauth_consumer_key=\"k\", oauth_token=\"t\", oauth_signature_method=\"RSA\"",
                "Authorization: OAuth oauth_version=\"1.0\", oauth_signature_method=\"PLAINTEXT\", "
                    + "oauth_consumer_key=\"k\", oauth_token=\"t\", oauth_signature=\"a&b\"",
                "Authorization: " + String(repeating: "x", count: 6000),
            ]
            for header in headers {
                for line in ["GET /1/account/info", "PUT /1/files_put/dropbox/byteclub/x.md", "POST /1/delta"] {
                    let answer = await RawExchange.send(
                        line, fields: [header, "Content-Length: 1"].compactMap { $0 }, body: [65],
                        port: club.server.port)
                    let status = answer?.status ?? 0
                    let allowed: Set<Int> =
                        header == nil || header?.contains("not-the-token") == true ? [401] : [401, 403]
                    #expect(allowed.contains(status), "\(header?.prefix(60) ?? "none"), \(line): \(status)")
                    let error = answer.flatMap { try? JSONValue.parse($0.body) }?["error"]
                    #expect(error != nil, "\(header?.prefix(60) ?? "none"): \(answer?.text.prefix(200) ?? "")")
                }
            }
            #expect(try await club.api.fingerprint() == before)
        }

        @Test("what is hardly HTTP does not disturb the server")
        func noise() async throws {
            let club = try await Club.start()
            let before = try await club.api.fingerprint()
            let messages: [[UInt8]] = [
                Array("\r\n\r\n".utf8), Array("GET\r\n\r\n".utf8), [0, 1, 2, 3, 10, 13, 10, 13, 10],
                Array("GET /1/account/info HTTP/9.9\r\n\r\n".utf8),
                Array("GET /1/account/info HTTP/1.1\r\nContent-Length: -5\r\n\r\n".utf8),
                Array("PUT /1/chunked_upload HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n".utf8),
                Array("PUT /1/chunked_upload HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef".utf8),
                Array(("GET /1/" + String(repeating: "a", count: 200_000) + " HTTP/1.1\r\n\r\n").utf8),
                Array(("GET / HTTP/1.1\r\nX: " + String(repeating: "b", count: 200_000) + "\r\n\r\n").utf8),
                Array("GET /1/files/dropbox/%zz%1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8),
                Array("GET /1/metadata/dropbox/?list=maybe&file_limit=-1 HTTP/1.1\r\nConnection: close\r\n\r\n".utf8),
                Array("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".utf8),
            ]
            let port = club.server.port
            for message in messages {
                await BackgroundThread.run {
                    guard let connection = RawConnection(port: port, timeout: 2) else { return }
                    connection.send(message)
                    _ = connection.receive()
                }
            }
            #expect(try await club.api.fingerprint() == before)
            #expect(club.server.process?.hasEnded == false)
        }

        private static func authorization(_ club: Club) -> String { "Authorization: Bearer \(club.api.token)" }
    }
}
