import TestSupport
import Testing

extension EndToEnd {
    /// What the examples' tests rely on.
    @Suite("The catalogue's server", .enabled(if: Wire.usual == .extended, "no mirror, so once is enough"))
    struct CatalogueServerTests {
        private func answer(
            of server: CatalogueServer, _ target: String, fields: [String] = []
        ) async throws -> RawMessage? {
            let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
            return await RawExchange.send("GET \(target)", fields: fields, port: port)
        }

        private func ask(
            _ server: CatalogueServer, _ target: String, fields: [String] = []
        ) async throws -> RawMessage {
            try #require(await answer(of: server, target, fields: fields))
        }

        @Test("finds songs and podcasts, looks them up, and tells a podcast's episodes")
        func documents() async throws {
            let server = try CatalogueServer()
            defer { server.stop() }
            let songs = try JSONValue.parse(
                await ask(server, "/search?term=half+FERRY&media=music&entity=song&limit=2").body)
            #expect(songs["resultCount"] == .number(2))
            #expect(songs["results"]?.elements.map { $0["trackId"] } == [.number(1001), .number(1002)])
            #expect(songs["results"]?.elements.first?["previewUrl"] == .text(server.url + "/previews/1001.wav"))
            let podcasts = try JSONValue.parse(await ask(server, "/search?term=%46erry&media=podcast").body)
            let feed = try #require(podcasts["results"]?.elements.first?["feedUrl"]?.text)
            let strange = try JSONValue.parse(await ask(server, "/lookup?id=1004,7").body)
            #expect(strange["results"]?.elements.map { $0["artistName"] } == [.text("AC/DC\n")])
            let none = try JSONValue.parse(await ask(server, "/search?term=nothing&media=music").body)
            #expect(none["results"]?.elements.isEmpty == true)
            #expect(try await ask(server, "/search?term=a&media=film").status == 400)
            #expect(try await ask(server, "/previews/7.wav").status == 404)

            let path = String(feed.dropFirst(server.url.count))
            let first = try await ask(server, path)
            #expect(first.text.contains("<title>Fog &amp; &lt;horns&#62;</title>") && first["ETag"] != nil)
            server.publish(.init("ferry-4", "Home", date: "Mon, 27 Jan 2025 06:00:00 GMT", seconds: 1), in: 2001)
            let second = try await ask(server, path, fields: ["If-None-Match: \(first["ETag"] ?? "")"])
            #expect(second.status == 200 && second.text.contains("ferry-4"))
            #expect(try await ask(server, path, fields: ["If-None-Match: \(second["ETag"] ?? "")"]).status == 304)
            #expect(try await ask(server, "/episodes/ferry-4.wav?feed=2001").body.count == 32_044)
        }

        @Test("serves audio that programs know, whole and in parts of one version")
        func parts() async throws {
            let server = try CatalogueServer()
            defer { server.stop() }
            let path = "/previews/1003.wav"
            let file = try #require(server.file(path))
            let whole = try await ask(server, path)
            #expect(whole.body == file.bytes && whole["ETag"] == file.tag && whole.status == 200)
            #expect(file.bytes.starts(with: Array("RIFF".utf8)) && file.bytes.count == 44 + 6 * 32_000)
            let rest = try await ask(server, path, fields: ["Range: bytes=100000-", "If-Range: \(file.tag)"])
            #expect(rest.status == 206 && rest.body == Array(file.bytes[100_000...]))
            #expect(rest["Content-Range"] == "bytes 100000-192043/192044")
            #expect(try await ask(server, path, fields: ["Range: bytes=0-3"]).text == "RIFF")
            #expect(try await ask(server, path, fields: ["Range: bytes=-2"]).body == Array(file.bytes.suffix(2)))
            #expect(try await ask(server, path, fields: ["Range: bytes=192044-"]).status == 416)
            let other = WaveAudio.tone(seconds: 1, frequency: 50)
            server.replace(path, by: other)
            let changed = try await ask(server, path, fields: ["Range: bytes=5-", "If-Range: \(file.tag)"])
            #expect(changed.status == 200 && changed.body == other)
            #expect(server.bytesSent(for: path) == 192_044 + 92_044 + 4 + 2 + other.count)
        }

        @Test("cuts, refuses, holds and goes down when it is told to")
        func faults() async throws {
            let server = try CatalogueServer()
            defer { server.stop() }
            let path = "/previews/1002.wav"
            server.change(path) { ($0.cutsAfter, $0.count) = (1000, 1) }
            // A reset may take bytes with it that were not read yet.
            let cut = try await answer(of: server, path)
            #expect((cut?.body.count ?? 0) <= 1000 && server.bytesSent(for: path) == 1000)
            #expect(try await ask(server, path).body.count == 256_044)
            server.change(path) { ($0.status, $0.retryAfter, $0.count) = (503, 7, 1) }
            let refused = try await ask(server, path)
            #expect(refused.status == 503 && refused["Retry-After"] == "7")
            server.change(path) { $0.holdsAfter = 5000 }
            async let held = ask(server, path)
            try await eventually("five thousand bytes") { server.requests.last?.bytesSent == 5000 }
            server.change(path) { ($0.holdsAfter, $0.rate) = (nil, 5_000_000) }
            #expect(try await held.body.count == 256_044)
            server.setDown(true)
            #expect(try await answer(of: server, path) == nil)
            server.setDown(false)
            #expect(try await ask(server, path).status == 200)
            #expect(server.requests.map(\.path).allSatisfy { $0 == path } && server.requests.count == 5)
        }
    }
}
