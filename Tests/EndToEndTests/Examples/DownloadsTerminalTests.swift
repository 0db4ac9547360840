import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The third example at a terminal, key by key.
    @Suite("downloads at a terminal", .enabled(if: Wire.usual == .extended, "no mirror, so once is enough"))
    struct DownloadsTerminalTests {
        private static let songs = [1001, 1002, 1003]
        private static let (up, down) = ("\u{1B}[A", "\u{1B}[B")

        private func song(_ id: Int) -> String { "/previews/\(id).wav" }

        private func hold(_ ids: [Int], _ count: Int?, _ machine: ListenerMachine) {
            for id in ids { machine.server.change(song(id)) { $0.holdsAfter = count } }
        }

        private func start(
            _ ids: [Int], _ machine: ListenerMachine, _ arguments: [String] = [], colours: Bool = false
        ) throws -> TerminalSession {
            try machine.startAtTerminal(
                ids.map { machine.server.url + song($0) } + ["-o", machine.folder] + arguments,
                environment: colours ? ["COLORTERM": "truecolor"] : ["NO_COLOR": "1"])
        }

        /// The rows that were drawn last.
        private func rows(_ session: TerminalSession) -> [String] {
            let text = session.text.replacing("\r\n", with: "\n")
            // The newest screen may not be whole yet.
            guard let end = text.ranges(of: "\u{1B}[J\u{1B}[?7h").last,
                let start = text[..<end.lowerBound].ranges(of: "\u{1B}[?7l").last
            else { return [] }
            return text[start.upperBound..<end.lowerBound].replacing("\u{1B}[K", with: "").split(separator: "\n")
                .map(String.init)
        }

        private func expect(
            _ session: TerminalSession, row: Int, has words: String..., location: SourceLocation = #_sourceLocation
        ) async throws {
            try await eventually("row \(row) with \(words)", location: location) {
                let rows = rows(session)
                return rows.indices.contains(row) && words.allSatisfy { rows[row].contains($0) }
            }
        }

        /// What the program has said last, without its name.
        private func lastLine(of session: TerminalSession) -> String {
            let text = session.text.replacing("\r\n", with: "\n")
            return text.ranges(of: "downloads: ").last.map { String(text[$0.upperBound...].prefix { $0 != "\n" }) }
                ?? ""
        }

        private func type(_ keys: String, _ session: TerminalSession) { session.type(Array(keys.utf8)) }

        private func end(
            of session: TerminalSession, location: SourceLocation = #_sourceLocation
        ) async throws -> Int32? {
            try await eventually("the end", location: location) { session.status != nil }
            #expect(session.hasModesOfBefore, sourceLocation: location)
            let cursor = session.text.ranges(of: "\u{1B}[?25").last.flatMap { session.text[$0.upperBound...].first }
            #expect(cursor == "h", "the cursor is hidden", sourceLocation: location)
            return session.status
        }

        @Test("arrows and digits select one of three, p pauses it, r resumes it, c cancels it and keeps what came")
        func keys() async throws {
            try await withListener("downloads") { machine in
                hold(Self.songs, 50_000, machine)
                let session = try start(Self.songs, machine)
                for row in 0...2 { try await expect(session, row: row, has: "running", "% of ") }
                #expect(rows(session)[0].hasPrefix(">1  1001.wav") && rows(session).last?.contains("q leaves") == true)

                type("2", session)
                try await expect(session, row: 1, has: ">2  1002.wav")
                try await expect(session, row: 1, has: ">2", "19.5% of 256.0 kB")
                type("p", session)
                try await expect(session, row: 1, has: "paused", "19.5% of 256.0 kB")
                type(Self.down, session)
                try await expect(session, row: 2, has: ">3")
                type(Self.up, session)
                try await expect(session, row: 1, has: ">2")
                hold([1002], 100_000, machine)
                type("r", session)
                try await expect(session, row: 1, has: "running", "39.0% of 256.0 kB")

                type("1", session)
                try await expect(session, row: 0, has: ">1", "15.6% of 320.0 kB")
                type("c", session)
                try await expect(session, row: 0, has: "cancelled", "15.6% of 320.0 kB")
                #expect(LocalFiles.exists(machine.folder + "/.1001.wav.resume"))
                hold([1001], nil, machine)
                type("x", session)
                type("r", session)
                try await expect(session, row: 0, has: "done", "320.0 kB")
                let requests = machine.server.requests(for: song(1001))
                #expect(requests.map(\.range) == [nil, "bytes=50000-"] && requests.last?.status == 206)

                hold(Self.songs, nil, machine)
                #expect(try await end(of: session) == 0)
                #expect(
                    ["\u{1B}[1m", "\u{1B}[32m", "\u{1B}[33m", "\u{1B}[1;"].allSatisfy { !session.text.contains($0) })
                for id in Self.songs {
                    #expect(
                        Fixture.bytes(at: "\(machine.folder)/\(id).wav") == machine.server.file(song(id))?.bytes)
                }
                #expect(FileTree(machine.folder).files.count == 3)
                #expect(machine.server.requests(for: song(1002)).count == 1)
            }
        }

        @Test("q leaves: a default session goes on with the next start, an ephemeral one leaves nothing")
        func leaving() async throws {
            for session in ["default", "ephemeral"] {
                try await withListener("downloads") { machine in
                    hold([1001], 50_000, machine)
                    let first = try start([1001, 1003], machine, ["--session", session])
                    try await expect(first, row: 0, has: "running", "15.6% of ")
                    try await expect(first, row: 1, has: "done")
                    type("q", first)
                    #expect(try await end(of: first) == 75)
                    let isKept = session == "default"
                    #expect(first.text.contains(isKept ? "goes on from here" : "begins anew"), "\(first.text)")
                    #expect(FileTree(machine.folder).files.count == (isKept ? 3 : 1))
                    hold([1001], nil, machine)
                    let second = try start([1001, 1003], machine, ["--session", session])
                    #expect(try await end(of: second) == 0)
                    let requests = machine.server.requests(for: song(1001))
                    #expect(requests.map(\.range) == [nil, isKept ? "bytes=50000-" : nil], "\(session)")
                    #expect(FileTree(machine.folder).files.count == 2)
                    #expect(machine.server.requests(for: song(1003)).count == 1)
                }
            }
        }

        @Test("downloads in the background go on when it is left, and are met again with their identifier")
        func background() async throws {
            try await withListener("downloads") { machine in
                hold([1001, 1002], 50_000, machine)
                let first = try start([1001, 1002], machine, ["--session", "background"])
                try await expect(first, row: 0, has: "running", "15.6% of ")
                try await expect(first, row: 1, has: "running", "19.5% of ")
                let id = try #require(rows(first)[0].split(separator: ", ").last.map(String.init))
                #expect(id.utf8.count == 16)
                type("2p", first)
                try await expect(first, row: 1, has: "paused")
                let second = try await machine.run("--session", "background")
                expectRefusal(by: "downloads", second, 75, mentioning: "another")
                type("q", first)
                #expect(try await end(of: first) == 75)
                #expect(
                    lastLine(of: first).hasPrefix("1 of 2 not downloaded: 1 paused until r resumes it, 1 goes on in "))
                #expect(machine.daemon != nil)

                let met = try start([], machine, ["--session", "background"])
                try await expect(met, row: 0, has: "running", id)
                hold([1001, 1002], nil, machine)
                try await expect(met, row: 0, has: "done")
                type("2", met)
                try await expect(met, row: 1, has: ">2", "paused")
                type("c", met)
                try await expect(met, row: 1, has: "cancelled")
                type("r", met)
                #expect(try await end(of: met) == 0)
                for id in [1001, 1002] {
                    #expect(
                        Fixture.bytes(at: "\(machine.folder)/\(id).wav") == machine.server.file(song(id))?.bytes)
                }
                #expect(machine.server.requests(for: song(1001)).count == 1)
                #expect(FileTree(machine.folder).files.count == 2)
            }
        }

        @Test("what was cancelled or has failed does not go on in the background, and the last line says so")
        func backgroundEnds() async throws {
            try await withListener("downloads") { machine in
                hold(Self.songs, 50_000, machine)
                let first = try start([7, 1001, 1002, 1003], machine, ["--session", "background"])
                try await expect(first, row: 0, has: "failed", "404")
                for (row, amount) in [(1, "15.6% of "), (2, "19.5% of "), (3, "26.0% of ")] {
                    try await expect(first, row: row, has: "running", amount)
                }
                type("4p", first)
                try await expect(first, row: 3, has: "paused")
                // The program may end before the event of a key's change.
                type("2cq", first)
                #expect(try await end(of: first) == 75)
                let words =
                    "3 of 4 not downloaded: 1 failed, 1 cancelled, 1 paused until r resumes it, 1 goes on in the "
                    + "background; 'downloads --session background' meets them again"
                #expect(lastLine(of: first) == words)

                hold(Self.songs, nil, machine)
                let command = ["--session", "background", "-o", machine.folder]
                let second = try await machine.start(Self.songs.map { machine.server.url + song($0) } + command)
                    .result()
                #expect(second.status == 0, "\(second)")
                // The part of the cancelled one was removed; the one that went on and the paused one kept theirs.
                let requests = Self.songs.map { machine.server.requests(for: song($0)).map(\.range) }
                #expect(requests == [[nil, nil], [nil], [nil, "bytes=50000-"]])
            }
        }

        @Test("where all that is left goes on in the background, leaving it is a success")
        func backgroundGoesOn() async throws {
            try await withListener("downloads") { machine in
                hold([1001], 50_000, machine)
                let first = try start([1001, 1003], machine, ["--session", "background"])
                try await expect(first, row: 0, has: "running", "15.6% of ")
                try await expect(first, row: 1, has: "done")
                type("q", first)
                #expect(try await end(of: first) == 0)
                #expect(
                    lastLine(of: first)
                        == "1 goes on in the background; 'downloads --session background' meets it again")
            }
        }

        @Test("a download of another program is a failed row, and r finds the file when that is complete")
        func otherProgram() async throws {
            try await withListener("downloads") { machine in
                hold([1001], 50_000, machine)
                let first = try start([1001], machine)
                try await expect(first, row: 0, has: "running", "15.6% of ")
                let second = try start([1001], machine)
                try await expect(second, row: 0, has: "failed", "another program is downloading this file")
                hold([1001], nil, machine)
                #expect(try await end(of: first) == 0)
                type("r", second)
                #expect(try await end(of: second) == 0)
                #expect(machine.server.requests(for: song(1001)).count == 1)
                #expect(FileTree(machine.folder).files == ["1001.wav"])
            }
        }

        @Test("a data task shows its pieces, is held and goes on, and begins anew after a cancel")
        func data() async throws {
            try await withListener("downloads") { machine in
                hold([1001], 50_000, machine)
                let session = try start([1001], machine, ["--as", "data"])
                try await expect(session, row: 0, has: "running", "15.6% of 320.0 kB", "the last of ")
                type("p", session)
                try await expect(session, row: 0, has: "paused")
                type("r", session)
                hold([1001], 100_000, machine)
                try await expect(session, row: 0, has: "running", "31.2% of ")
                type("c", session)
                try await expect(session, row: 0, has: "cancelled")
                #expect(FileTree(machine.folder).files.isEmpty)
                hold([1001], nil, machine)
                type("r", session)
                #expect(try await end(of: session) == 0)
                #expect(machine.server.requests(for: song(1001)).map(\.range) == [nil, nil])
                #expect(Fixture.bytes(at: machine.folder + "/1001.wav") == machine.server.file(song(1001))?.bytes)
            }
        }

        @Test("Ctrl-C and signals give the terminal back as it was")
        func signals() async throws {
            try await withListener("downloads") { machine in
                hold([1001], 50_000, machine)
                // Each answer is held after as many bytes again.
                for (name, status, amount) in [
                    ("Ctrl-C", 130, "15.6% of "), ("SIGINT", 130, "31.2% of "), ("SIGTERM", 143, "46.8% of "),
                ] as [(String, Int32, String)] {
                    let session = try start([1001], machine)
                    try await expect(session, row: 0, has: "running", amount)
                    #expect(!session.hasModesOfBefore)
                    switch name {
                    case "Ctrl-C": type("\u{3}", session)
                    case "SIGINT": session.send(SIGINT)
                    default: session.send(SIGTERM)
                    }
                    #expect(try await end(of: session) == status, "\(name)")
                    #expect(session.text.contains("stopped; the same command goes on from here"), "\(name)")
                }
                let ranges = machine.server.requests(for: song(1001)).map(\.range)
                #expect(ranges == [nil, "bytes=50000-", "bytes=100000-"])
            }
        }

        @Test("a finished picture is drawn above the rows, in colours only where they are wanted")
        func pictures() async throws {
            try await withListener("downloads") { machine in
                machine.server.replace("/city.jpg", by: Fixture.bytes("panoramas/city.jpg"))
                for colours in [true, false] {
                    let folder = "\(machine.folder)/\(colours)"
                    let session = try machine.startAtTerminal(
                        [machine.server.url + "/city.jpg", "--show", "-o", folder],
                        environment: colours ? ["COLORTERM": "truecolor"] : ["NO_COLOR": "1"])
                    #expect(try await end(of: session) == 0)
                    #expect(session.text.contains("\u{2580}") == colours)
                    #expect(session.text.contains("\u{1B}[38;2;") == colours)
                    #expect(session.text.contains("no picture is drawn") == !colours)
                }
                let song = try start([1003], machine, ["--show"], colours: true)
                #expect(try await end(of: song) == 0)
                #expect(song.text.contains("1003.wav cannot be drawn: "), "\(song.text)")
            }
        }
    }
}
