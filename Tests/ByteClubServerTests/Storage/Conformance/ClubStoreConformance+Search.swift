import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

extension ClubStoreRun {
    /// The paths that a search finds, which are the same before and after texts are indexed.
    func found(
        _ query: String, below folder: String = "/", includeDeleted: Bool = false, limit: Int = 100,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String] {
        let (path, query) = (try RemotePath(folder), try TextQuery(query))
        let search = { [store] in
            try await store.searchTexts(path, query: query, includeDeleted: includeDeleted, limit: limit)
        }
        let before = try await search()
        try await indexAll()
        let after = try await search()
        #expect(before.isComplete && after.isComplete, sourceLocation: sourceLocation)
        #expect(before.entries == after.entries, sourceLocation: sourceLocation)
        return after.entries.map(\.path.string)
    }

    func indexAll() async throws {
        while try await store.indexTexts() == nil {}
    }

    @discardableResult
    func write(_ path: String, _ text: String) async throws -> FolderEntry { try await put(path, Array(text.utf8)) }
}

extension ClubStoreConformance {
    static let search = [
        ClubStoreConformance("a search finds words in names and texts, names first and the last changed first") { run in
            try await run.write("/n/one.md", "We left the car in the park.")
            try await run.write("/n/two.md", "A car, a park, and a café")
            try await run.write("/n/Car park.md", "nothing")
            try await run.write("/n/photo.jpg", "\u{0}car park")
            try await run.put("/n/picture.jpg", [0xFF, 0xD8] + Array("car park".utf8))
            #expect(try await run.found("car park") == ["/n/Car park.md", "/n/two.md", "/n/one.md"])
            #expect(try await run.found("PARK the") == ["/n/one.md"])
            #expect(try await run.found("Cafe") == ["/n/two.md"])
            #expect(try await run.found("\"car park\"") == ["/n/Car park.md"])
            #expect(
                try await run.found("nothing park") == ["/n/Car park.md"], "some words in the name, some in the text")
            #expect(try await run.found("pho") == ["/n/photo.jpg"])
            #expect(try await run.found("n") == ["/n"])
            #expect(try await run.found("car", limit: 2).count == 2)
            #expect(try await run.found("train").isEmpty)
        },
        ClubStoreConformance("a search marks what it found, and nothing where only the name matches") { run in
            try await run.write("/a.md", "Keys are under\nthe Flower Pot.")
            try await run.write("/flower.md", "no such thing")
            try await run.indexAll()
            let results = try await run.store.searchTexts(
                .root, query: TextQuery("flow"), includeDeleted: false, limit: 10)
            #expect(
                results.entries.map(\.snippet?.parts) == [
                    nil,
                    [.init("Keys are under the "), .init("Flower", isMatch: true), .init(" Pot.")],
                ])
        },
        ClubStoreConformance("scripts without blanks are searched by characters that follow one another") { run in
            try await run.write("/zh.md", "我们把车停在停车场。")
            try await run.write("/ja.md", "駐車場にとめました。カフェで休む。")
            try await run.write("/th.md", "เราจอดรถที่ลานจอดรถ")
            try await run.write("/ko.md", "우리는 주차장에 주차했다")
            #expect(try await run.found("停车场") == ["/zh.md"])
            #expect(try await run.found("车停") == ["/zh.md"])
            #expect(try await run.found("场车").isEmpty)
            #expect(try await run.found("車場に") == ["/ja.md"])
            #expect(try await run.found("カフェ 駐車") == ["/ja.md"])
            #expect(try await run.found("ｶﾌｪ") == ["/ja.md"])
            #expect(try await run.found("จอดรถ") == ["/th.md"])
            #expect(try await run.found("주차장") == ["/ko.md"])
        },
        ClubStoreConformance("nothing in a query is an order") { run in
            try await run.write("/a.md", "near or not: name body rowid 100% \"quoted\" star* search_index")
            for query in [
                "near OR not", "name:near", "\"near", "near*", "NEAR(near not)", "near NOT or", "-near", "^near",
                "near) --",
                "near'; DELETE FROM node", "{name body}:near", "search_index", "\"\"\"quoted", "100%", "star*",
                "near\u{0}or",
            ] {
                let found = try await run.found(query)
                #expect(found == ["/a.md"] || found.isEmpty, "\(query)")
            }
            #expect(try await run.found("name : quoted") == ["/a.md"])
            #expect(try await run.live() == ["/a.md"])
        },
        ClubStoreConformance("a search follows edits, moves, deletions and restored entries") { run in
            let first = try await run.write("/n/a.md", "before")
            #expect(try await run.found("before") == ["/n/a.md"])
            try await run.write("/n/a.md", "after")
            #expect(try await run.found("before").isEmpty)
            #expect(try await run.found("after") == ["/n/a.md"])
            try await run.move("/n/a.md", to: "/n/renamed.md")
            #expect(try await run.found("after") == ["/n/renamed.md"])
            #expect(try await run.found("renamed") == ["/n/renamed.md"])
            #expect(try await run.found("a md").isEmpty)
            try await run.move("/n", to: "/m")
            #expect(try await run.found("after") == ["/m/renamed.md"])
            #expect(try await run.found("after", below: "/m") == ["/m/renamed.md"])
            try await run.delete("/m/renamed.md")
            #expect(try await run.found("after").isEmpty)
            #expect(try await run.found("after", includeDeleted: true) == ["/m/renamed.md"])
            #expect(try await run.found("before", includeDeleted: true).isEmpty)
            try await run.write("/m/renamed.md", "anew")
            #expect(try await run.found("after", includeDeleted: true).isEmpty, "something else is there now")
            let path = try RemotePath("/m/renamed.md")
            let last = try #require(try await run.revisions("/m/renamed.md").last)
            _ = try await run.store.write(by: 1, storing: nil) {
                try $0.restore(path, to: JournalRevision(number: last))
            }
            #expect(try await run.found("after") == ["/m/renamed.md"])
            #expect(try await run.found("anew").isEmpty)
            #expect(first.path.string == "/n/a.md")
        },
        ClubStoreConformance("what was renamed and deleted at once is found by the name that it had last") { run in
            try await run.write("/first.md", "word")
            #expect(try await run.found("first") == ["/first.md"])
            try await run.move("/first.md", to: "/last.md")
            try await run.delete("/last.md")
            #expect(try await run.found("last", includeDeleted: true) == ["/last.md"])
            #expect(try await run.found("word", includeDeleted: true) == ["/last.md"])
            #expect(try await run.found("first", includeDeleted: true).isEmpty)
            #expect(try await run.found("last").isEmpty)
        },
        ClubStoreConformance("a search is kept to its folder, which must be there") { run in
            try await run.write("/a/x.md", "word")
            try await run.write("/a b/x.md", "word")
            try await run.write("/a/sub/y.md", "word")
            #expect(try await run.found("word", below: "/A").sorted() == ["/a/sub/y.md", "/a/x.md"])
            await run.refused(404) { _ = try await run.found("word", below: "/none") }
            try await run.delete("/a b")
            await run.refused(404) { _ = try await run.found("word", below: "/a b") }
            #expect(try await run.found("word", includeDeleted: true).contains("/a b/x.md"))
        },
        ClubStoreConformance("large texts are searched up to a bound, and copies too") { run in
            let filler = String(repeating: "filler ", count: 20_000)
            try await run.write("/large.md", filler + "needle")
            try await run.write("/endless.md", String(repeating: filler, count: 8) + "needle")
            #expect(try await run.found("needle") == ["/large.md"])
            _ = try await run.store.write(by: 1, storing: nil) {
                try $0.copy(try RemotePath("/large.md"), to: try RemotePath("/copy.md"))
            }
            #expect(try await run.found("needle").sorted() == ["/copy.md", "/large.md"])
        },
        ClubStoreConformance("what was deleted is found until it is forgotten", HistorySettings(keep: 86_400)) { run in
            try await run.write("/a.md", "needle")
            try await run.write("/b.md", "needle")
            try await run.delete("/a.md")
            #expect(try await run.found("needle", includeDeleted: true).sorted() == ["/a.md", "/b.md"])
            await run.days(3)
            #expect(try await run.found("needle", includeDeleted: true) == ["/b.md"])
            #expect(try await run.found("needle") == ["/b.md"])
        },
    ]
}
