import ByteClubCore
import Testing

extension RemoteConformance {
    static let names: [RemoteConformanceCase] = [
        RemoteConformanceCase("names that differ in case alone are one entry, which keeps its case") { run in
            try await run.put("one", "Trip.md")
            let again = try await run.put("two", "TRIP.MD")
            #expect(again.path.name == "Trip.md")
            #expect(try await run.text("trip.md") == "two")
            #expect(try await run.names() == ["Trip.md"])
            #expect(try await run.remote.metadata(at: run.path("tRiP.md")).path.name == "Trip.md")
        },
        RemoteConformanceCase("composed and decomposed names are one entry") { run in
            try await run.put("one", "caf\u{65}\u{301}.md")
            #expect(try await run.text("caf\u{E9}.md") == "one")
            #expect(try await run.names() == ["caf\u{E9}.md"])
            try await run.put("two", "CAF\u{C9}.md")
            #expect(try await run.names().count == 1)
        },
        RemoteConformanceCase("names may hold what is awkward elsewhere") { run in
            let awkward = [
                "a:b?c*d", "100% & #1 + ~tilde", "quote'\"<>|", "plus+plus", "%2F", "blank in", "semi;colon=x",
                "\u{1F3D4} ridge.jpg", "日本語.md", "[brackets]{braces}", "@at,comma!$",
            ]
            for name in awkward { try await run.put(name, name, .create, .fail) }
            for name in awkward { #expect(try await run.text(name) == name, "\(name)") }
            #expect(Set(try await run.names()) == Set(awkward))
        },
        RemoteConformanceCase("names that are never synced are refused") { run in
            for name in ["desktop.ini", ".DS_Store", "~$letter.doc", ".~lock", "~work.TMP"] {
                await run.refused(.badRequest) { try await run.put("x", name) }
            }
            try await run.put("y", "fine")
            #expect(try await run.names() == ["fine"])
        },
        RemoteConformanceCase("the longest name and a deep path are stored") { run in
            let long = String(repeating: "n", count: 252) + ".md"
            try await run.put("long", long, .create, .fail)
            #expect(try await run.text(long) == "long")
            let second = try await run.put("longer", long, .create, .rename)
            #expect(second.path.name.utf8.count <= NameRules.maximumBytes && second.path.name.hasSuffix(" (1).md"))
            let deep = (0..<40).map { "level \($0)" }.joined(separator: "/")
            try await run.put("deep", deep + "/end.md")
            #expect(try await run.text(deep + "/end.md") == "deep")
        },
    ]

    static let searching: [RemoteConformanceCase] = [
        RemoteConformanceCase("a search finds all words in a name, whatever their case and accents") { run in
            try await run.put("1", "Café au lait.md")
            try await run.put("2", "sub/CAFE noir.md")
            try await run.put("3", "tea.md")
            try await run.put("4", "café/inside.md")
            let found = try await run.remote.search(run.path(), query: "cafe", limit: 100).map(\.path.name)
            #expect(found == ["café", "Café au lait.md", "CAFE noir.md"])
            #expect(
                try await run.remote.search(run.path(), query: "LAIT café", limit: 100).map(\.path.name)
                    == ["Café au lait.md"])
            #expect(try await run.remote.search(run.path("sub"), query: "cafe", limit: 100).count == 1)
            #expect(try await run.remote.search(run.path(), query: "cafe", limit: 1).count == 1)
            #expect(try await run.remote.search(run.path(), query: "coffee", limit: 100).isEmpty)
            #expect(
                try await run.remote.search(run.path(), query: ".md tea", limit: 100).map(\.path.name) == ["tea.md"])
        },
        RemoteConformanceCase("a search tells at once of what was stored and deleted") { run in
            try await run.put("1", "zebra.md")
            #expect(try await run.second.search(run.path(), query: "zebra", limit: 10).count == 1)
            _ = try await run.remote.delete(run.path("zebra.md"), ifUnchangedSince: nil)
            #expect(try await run.second.search(run.path(), query: "zebra", limit: 10).isEmpty)
        },
        RemoteConformanceCase("a search without a word, or in a folder that is not there, is refused") { run in
            try await run.put("1", "a.md")
            await run.refused(.badRequest) { try await run.remote.search(run.path(), query: "  ", limit: 10) }
            await run.refused(.notFound) { try await run.remote.search(run.path("none"), query: "a", limit: 10) }
        },
        RemoteConformanceCase("a search in texts finds what was just saved, with the place marked") { run in
            guard let texts = try await run.remote.powers().textSearch else { return }
            try await run.put("The keys are in the car park.", "where.md")
            try await run.put("鍵は駐車場にあります", "sub/日本.md")
            try await run.put("nothing", "Car.md")
            func found(_ query: String, _ folder: String = "") async throws -> [Metadata] {
                let results = try await texts.searchTexts(run.path(folder), query: query, limit: 10)
                #expect(results.isComplete)
                return results.entries
            }
            #expect(try await found("CAR").map(\.path.name) == ["Car.md", "where.md"])
            let match = try #require(try await found("\"car park\"").first?.snippet)
            #expect(match.parts == [.init("The keys are in the "), .init("car park", isMatch: true), .init(".")])
            #expect(try await found("駐車場").map(\.path.name) == ["日本.md"])
            #expect(try await found("駐車場", "sub").count == 1)
            _ = try await run.remote.delete(run.path("where.md"), ifUnchangedSince: nil)
            #expect(try await found("\"car park\"").isEmpty)
            await run.refused(.badRequest) { try await found("?!") }
            await run.refused(.notFound) { try await found("x", "none") }
        },
    ]
}
