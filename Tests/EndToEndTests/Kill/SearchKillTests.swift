import ByteClubCore
import HTTPTypes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("kill -9 while texts are indexed") struct SearchKillTests {
        @Test("each acknowledged note is found right after the restart, and the index is sound in the end")
        func kills() async throws {
            var generator = SeededGenerator(seed: Sample.seed("search kills"))
            let club = try await Club.start()
            var words: [String: String] = [:]
            for round in 0..<max(3, Settings.kills / 10) {
                let api = try ClubAPI(server: club.server, token: club.api.token)
                for number in 0..<20 {
                    // Some are new, and some take the place of notes that may be in the index already.
                    let path = "/byteclub/note \(Int.random(in: 0..<50, using: &generator)).md"
                    let word = "w\(round)x\(number)z"
                    let text = "about \(word), 停车场\n" + String(repeating: "filler text ", count: 200)
                    let answer = try await api.put(Array(text.utf8), path)
                    try #require(answer.status == 200, "\(answer)")
                    words[path] = word
                }
                try await ContinuousClock().sleep(for: .milliseconds(Int.random(in: 0..<1_200, using: &generator)))
                await club.server.kill9()
                await api.close()
                try await club.server.start()
                try await Self.check(words, try ClubAPI(server: club.server, token: club.api.token))
            }
            let result = await club.server.stop()
            #expect(result?.status == 0)
            let verified = try await Program.run("byteclub-server", ["verify", "--data", club.server.data])
            #expect(verified.status == 0, "\(verified)")
        }

        private static func check(_ words: [String: String], _ api: ClubAPI) async throws {
            for (path, word) in words {
                let found = try await search(word, api)
                #expect(found.map(\.path.string) == [path], "\(word)")
                #expect(found.first?.snippet?.parts.first { $0.isMatch }?.text == word)
            }
            let all = try await search("停车场", api)
            #expect(Set(all.map(\.path.string)) == Set(words.keys))
            await api.close()
        }

        private static func search(_ query: String, _ api: ClubAPI) async throws -> [Metadata] {
            let answer = try await api.send(
                .get, "/1/search/dropbox/byteclub?content=true&query=\(ClubAPI.encode(query))")
            try #require(answer.status == 200, "\(answer)")
            return try answer.decode(MetadataList.self).entries
        }
    }
}
