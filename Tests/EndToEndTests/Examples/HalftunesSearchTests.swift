import ExampleSupport
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The first example's search at a terminal, key by key.
    @Suite("halftunes search", .enabled(if: Wire.usual == .extended, "no mirror, so once is enough"))
    struct HalftunesSearchTests {
        private func type(_ keys: String, _ session: TerminalSession) { session.type(Array(keys.utf8)) }

        /// The words that the catalogue was asked for.
        private func terms(_ machine: ListenerMachine) -> [String] {
            machine.server.requests(for: "/search").compactMap { $0.parameters["term"] }
        }

        @Test("searches from the second letter on, shows the newest answer, and Return downloads the chosen song")
        func choosing() async throws {
            try await withListener("halftunes") { machine in
                machine.server.change("/search") { $0.holdsAfter = 0 }
                let session = try machine.startAtTerminal(["search", "-o", machine.folder])
                try await eventually("the question") { session.text.contains("type at least two letters") }
                type("n", session)
                try await eventually("a letter") { session.text.contains("Search: n_") }
                type("i", session)
                try await eventually("a question") { terms(machine) == ["ni"] }
                // The older question never gets its answer.
                type("x\u{7F}\u{7F}\u{7F}fe", session)
                try await eventually("the newest question") { terms(machine).contains("fe") }
                type("r", session)
                try await eventually("another") { terms(machine).contains("fer") }
                machine.server.change("/search") { $0.holdsAfter = nil }
                try await eventually("songs") {
                    session.text.contains("> 1001  The Half Tunes - Morning Ferry (Harbour)")
                }
                #expect(session.text.contains("  1003  The Half Tunes - Night Ferry (Harbour)"))
                type("\u{1B}[B", session)
                try await eventually("the second") { session.text.contains("> 1002  The Half Tunes - Evening Ferry") }
                type("\r", session)
                try await eventually("the end") { session.status != nil }
                #expect(session.status == 0 && session.hasModesOfBefore, "\(session.text)")
                let name = "The Half Tunes - Evening Ferry [1002].wav"
                let bytes = machine.server.file("/previews/1002.wav")?.bytes
                #expect(Fixture.bytes(at: "\(machine.folder)/\(name)") == bytes)
                #expect(FileTree(machine.folder).files == [name])
            }
        }

        @Test("a search that fails says why and can be tried again, and each way out gives the terminal back")
        func ends() async throws {
            try await withListener("halftunes") { machine in
                machine.server.change("/search") { $0.status = 404 }
                let session = try machine.startAtTerminal(["search"])
                type("zz", session)
                try await eventually("the reason") { session.text.contains("404; Return tries again") }
                machine.server.change("/search") { $0.status = nil }
                type("\r", session)
                try await eventually("no song") { session.text.contains("nothing found") }
                type("\r\u{4}", session)
                try await eventually("the end") { session.status != nil }
                #expect(session.status == 0 && session.hasModesOfBefore)

                for (key, signal, status) in [("\u{3}", nil, 130), ("", SIGTERM, 143)] as [(String, Int32?, Int32)] {
                    let session = try machine.startAtTerminal(["search"])
                    try await eventually("the question") { session.text.contains("Search: _") }
                    type(key, session)
                    if let signal { session.send(signal) }
                    try await eventually("the end") { session.status != nil }
                    #expect(session.status == status && session.hasModesOfBefore, "\(session.text)")
                    #expect(session.text.ranges(of: "\u{1B}[?25").last.map { session.text[$0.upperBound] } == "h")
                }
            }
        }
    }
}

/// The search while typing, without a terminal.
@Suite("A search while typing") struct TypeaheadTests {
    private func type(_ text: String, _ typeahead: inout Typeahead) -> [Typeahead.Command] {
        text.flatMap { typeahead.handle(.key($0 == "<" ? .backspace : .text($0))) }
    }

    @Test("it asks for other words of two letters or more, and cancels when they are fewer")
    func questions() {
        var typeahead = Typeahead(action: "downloads")
        #expect(type("a", &typeahead) == [])
        #expect(type("b", &typeahead) == [.ask(1, "ab")])
        // Blanks at the end ask nothing else.
        #expect(type(" ", &typeahead) == [])
        #expect(type("c", &typeahead) == [.ask(2, "ab c")])
        #expect(type("<<", &typeahead) == [.ask(3, "ab")])
        #expect(type("<", &typeahead) == [.cancel])
        #expect(type("<<<", &typeahead) == [])
        #expect(type("  x", &typeahead) == [])
        let long = type(String(repeating: "y", count: 200), &typeahead)
        #expect(long.count == 97 && typeahead.words.count == 100)
    }

    @Test("only the newest answer counts, and what is chosen is of the words that are there")
    func answers() {
        var typeahead = Typeahead(action: "downloads")
        _ = type("ab", &typeahead)
        _ = typeahead.handle(.found(1, ["one", "two"]))
        #expect(typeahead.rows(columns: 80, lines: 24).dropFirst().prefix(2) == ["> one", "  two"])
        _ = typeahead.handle(.key(.down))
        _ = typeahead.handle(.key(.down))
        #expect(typeahead.handle(.key(.enter)) == [.choose(1)])
        #expect(type("c", &typeahead) == [.ask(2, "abc")])
        #expect(typeahead.handle(.key(.enter)) == [])
        _ = typeahead.handle(.found(1, ["old"]))
        #expect(typeahead.rows(columns: 80, lines: 24).last == "searching")
        _ = typeahead.handle(.failed(2, "no network"))
        #expect(typeahead.rows(columns: 80, lines: 24) == ["Search: abc_", "no network; Return tries again"])
        #expect(typeahead.handle(.key(.enter)) == [.ask(3, "abc")])
        _ = typeahead.handle(.found(3, []))
        #expect(typeahead.rows(columns: 80, lines: 24).last == "nothing found")
        #expect(typeahead.handle(.key(.enter)) == [])
        #expect(typeahead.handle(.key(.interrupt)) == [.leave(isInterrupted: true)])
        #expect(typeahead.handle(.key(.end)) == [.leave(isInterrupted: false)])
    }

    @Test("rows fit the terminal around the selected line")
    func rows() {
        var typeahead = Typeahead(action: "downloads")
        _ = type("ab", &typeahead)
        _ = typeahead.handle(.found(1, (0..<50).map { "song \($0) " + String(repeating: "x", count: 90) }))
        for selected in 0..<50 {
            for (columns, lines) in [(80, 24), (20, 6), (1, 2)] {
                let rows = typeahead.rows(columns: columns, lines: lines)
                #expect(rows.count < max(lines, 3) && rows.allSatisfy { $0.count <= columns }, "\(selected)")
                if lines > 3, columns > 20 { #expect(rows.contains { $0.hasPrefix("> song \(selected) ") }) }
            }
            _ = typeahead.handle(.key(.down))
        }
    }
}
