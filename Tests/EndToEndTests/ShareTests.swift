import Foundation
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Sharing") struct ShareTests {
        /// What somebody without an account gets at a link; nil when it leads nowhere.
        private static func open(_ link: String) async throws -> String? {
            let curl = try #require(Program.system("curl"))
            let answer = try await Program.run(curl, ["-sS", "-o", "-", "-w", "\n%{http_code}", link + "?dl=1"])
            try #require(answer.status == 0, "\(answer)")
            let lines = answer.text.split(separator: "\n")
            return lines.last == "200" ? String(lines.first ?? "") : nil
        }

        @Test("a link that got out is found in the list and taken back, by its member or by the owner")
        func life() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let owner = club.machine("warden")
            let settings = ["BYTECLUB_SERVER": club.server.url, "BYTECLUB_TOKEN": club.api.token]
            #expect(try await club.api.put(Array("one".utf8), "/byteclub/Trip 1.md").status == 200)
            #expect(try await club.api.put(Array("two".utf8), "/byteclub/photos/b.txt").status == 200)

            let made = try await ann.byteclub("share", "trip 1.md", "--expires", "7d")
            #expect(made.status == 0 && made.lines.count == 1 && made.errorText.contains("with this link"), "\(made)")
            let link = try #require(made.lines.first)
            #expect(try await Self.open(link) == "one")
            #expect(try await ann.byteclub("share", "Trip 1.md").lines == [link])
            let json = try await ann.byteclub("share", "photos/b.txt", "--json")
            let other = try JSONDecoder().decode([String: String].self, from: Data(json.text.utf8))
            #expect(json.errorText.isEmpty && other.keys.sorted() == ["expires", "url"])
            #expect(try await Self.open(other["url"] ?? "") == "two")

            let list = try await ann.byteclub("share", "--list")
            #expect(list.status == 0 && list.lines.count == 2, "\(list)")
            #expect(
                list.lines.last?.contains("Trip 1.md") == true && list.lines.first?.contains("photos/b.txt") == true)
            let rows = try await ann.byteclub("share", "--list", "--json")
            let objects = try #require(
                try JSONSerialization.jsonObject(with: Data(rows.text.utf8)) as? [[String: Any]])
            #expect(objects.map { $0["member"] as? String } == ["ann", "ann"])
            #expect(objects.map { $0["url"] as? String } == [other["url"], link])

            let revoked = try await ann.byteclub("share", "--revoke", "trip 1.md")
            #expect(revoked.status == 0 && revoked.text.contains("'Trip 1.md'"), "\(revoked)")
            #expect(try await Self.open(link) == nil)
            let all = try await owner.byteclub("share", "--list", environment: settings)
            #expect(all.lines.count == 1 && all.text.contains("ann"), "\(all)")
            let id = try #require(objects.first?["id"] as? Int)
            let taken = try await owner.byteclub("share", "--revoke", "\(id)", environment: settings)
            #expect(taken.status == 0, "\(taken)")
            #expect(try await Self.open(other["url"] ?? "") == nil)
            #expect(try await ann.byteclub("share", "--list").text == "")
        }

        @Test("what cannot be shared or taken back is one line and the right code")
        func refusals() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            #expect(try await club.api.put(Array("one".utf8), "/byteclub/a.md").status == 200)
            #expect(try await club.api.put(Array("film".utf8), "/byteclub/photos/a.mov").status == 200)
            let cases: [([String], Int32, String)] = [
                (["photos/a.mov"], 65, "--with-location"),
                (["none.md"], 66, "or folder named 'none.md'"), (["../a.md"], 65, "invalid path"),
                (["--revoke", "12"], 66, "--list"), (["--revoke", "a.md"], 66, "--list"),
                (["--revoke", club.server.url + "/s/x/a.md"], 66, "--list"),
            ]
            for (arguments, status, text) in cases {
                let result = try await ann.start(["share"] + arguments).result()
                expectRefusal(result, [status], mentioning: text)
            }
            let film = try #require(try await ann.byteclub("share", "photos/a.mov", "--with-location").lines.first)
            #expect(try await Self.open(film) == "film")
            let made = try await ann.byteclub("share", "a.md")
            let link = try #require(made.lines.first)
            let role = try await Program.run(
                "byteclub", ["members", "role", "ann", "viewer", "--data", club.server.data])
            try #require(role.status == 0, "\(role)")
            try await eventually("the server knows that ann is a viewer") {
                try await ann.byteclub("share", "a.md").status == 77
            }
            expectRefusal(try await ann.byteclub("share", "a.md"), [77], mentioning: "editor")
            #expect(try await Self.open(link) == nil)
            #expect(try await ann.byteclub("share", "--list").text == "")
        }
    }
}
