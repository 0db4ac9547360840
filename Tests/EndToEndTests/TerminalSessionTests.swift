import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("At a terminal of one's own") struct TerminalSessionTests {
        private static let query = "\u{1B}_Gi=31"
        private static let cleared = "\u{1B}]9;4;0;0\u{1B}\\"
        private static let drawing = ["COLORTERM": "truecolor"]

        @Test("a terminal that never answers is asked once, and the pictures are drawn in text")
        func silent() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let photos = ["city.jpg", "forest.jpg"].map { Fixture.path("panoramas/\($0)") }
            let uploaded = try await ann.start(["photos", "upload"] + photos).result()
            #expect(uploaded.status == 0, "\(uploaded)")
            let session = try ann.startAtTerminal(
                ["photos", "show", "city.jpg", "forest.jpg"], environment: Self.drawing)
            try await eventually("it asks") { session.text.contains(Self.query) }
            let asked = ContinuousClock.now
            try await eventually("it draws") { session.text.contains("\u{2580}") || session.status != nil }
            print("a terminal that never answers: drawn \(ContinuousClock.now - asked) after the question")
            try await eventually("it ends") { session.status != nil }
            #expect(session.status == 0 && session.hasModesOfBefore)
            #expect(session.text.ranges(of: Self.query).count == 1)
            #expect(session.text.contains("\u{2580}") && !session.text.contains("\u{1B}_Ga=T"))
            Self.expectCursor(session)
        }

        @Test("a note's photos are drawn between its lines, and in a pipe the note is its bytes")
        func story() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let uploaded = try await ann.byteclub("photos", "upload", Fixture.path("panoramas/city.jpg"))
            #expect(uploaded.status == 0, "\(uploaded)")
            let note = "# Trip\n\nWe went up.\n![The ridge](photos/city.jpg)\n![x](photos/gone.jpg)\nAnd down.\n"
            let added = try await ann.byteclub("notes", "add", "trip.md", input: Array(note.utf8))
            #expect(added.status == 0, "\(added)")
            let session = try ann.startAtTerminal(["notes", "show", "trip.md"], environment: Self.drawing)
            try await eventually("it ends") { session.status != nil }
            #expect(session.status == 0 && session.hasModesOfBefore)
            let text = session.text
            #expect(text.ranges(of: Self.query).count == 1 && !text.contains("![The ridge]"))
            let places = ["We went up.", "\u{2580}", "The ridge", "![x]", "there is no photo", "And down."]
                .compactMap { text.firstRange(of: $0)?.lowerBound }
            #expect(places.count == 6 && places == places.sorted(), "\(text)")
            let piped = try await ann.byteclub("notes", "show", "trip.md")
            #expect(piped.output == Array(note.utf8) && piped.errors.isEmpty, "\(piped)")
        }

        @Test("Ctrl-C in 'photos show', while the terminal is asked and while the server says nothing")
        func show() async throws {
            // Its clients are accepted by the kernel, and hear nothing.
            let listener = try LoopbackListener()
            let folder = try TemporaryDirectory()
            let ann = MemberMachine("ann", in: folder.path)
            let server = ["BYTECLUB_SERVER": "http://127.0.0.1:\(listener.port)", "BYTECLUB_TOKEN": "x"]
            for isAsking in [true, false] {
                let session = try ann.startAtTerminal(
                    ["photos", "show", "city.jpg"], environment: server.merging(Self.drawing) { $1 })
                try await eventually("it asks") { session.text.contains(Self.query) }
                if !isAsking { try await eventually("it has asked") { session.hasModesOfBefore } }
                let (status, seconds) = try await session.interrupt()
                #expect(status == 130 && session.hasModesOfBefore, "\(session.text)")
                Self.expectCursor(session)
                print("Ctrl-C in 'photos show': \(seconds) s")
            }
        }

        @Test("Ctrl-C in an upload clears what it drew, and the command that it prints goes on when it is pasted")
        func upload() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let file = ann.home + "/it's big.jpg"
            try LocalFiles.writeLarge(
                head: Fixture.bytes("panoramas/city.jpg"), length: 20 << 20, seed: Sample.seed("upload"), to: file)
            for presses in [2, 1] {
                let session = try ann.startAtTerminal(
                    ["photos", "upload", file, "--limit-rate", "4M"], environment: ["TERM_PROGRAM": "ghostty"])
                try await eventually("it draws") { session.text.contains("\u{1B}]9;4;1;") }
                if presses > 1 { session.type([3]) }
                let (status, seconds) = try await session.interrupt()
                #expect(status == 130 && session.hasModesOfBefore, "\(session.text)")
                Self.expectCursor(session)
                #expect(Self.isCleared(session.text[...]))
                print("Ctrl-C in an upload, pressed \(presses) times: \(seconds) s")
                guard presses == 1 else { continue }
                let line = session.text.split(whereSeparator: \.isNewline).last { $0.contains("resume with: ") }
                let command = try #require(line?.split(separator: "resume with: ").last.map(String.init))
                let pasted = try await Program.run(
                    "/bin/sh", ["-c", command], environment: ann.environment, directory: "/")
                #expect(pasted.status == 0 && pasted.lines == ["/byteclub/photos/it's big.jpg"], "\(pasted)")
            }
        }

        @Test("Ctrl-Z and Ctrl-\\ in an upload clear the task bar, which is there again when the upload goes on")
        func stopped() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let file = ann.home + "/big.jpg"
            try LocalFiles.writeLarge(
                head: Fixture.bytes("panoramas/city.jpg"), length: 20 << 20, seed: Sample.seed("stopped"), to: file)
            // A shell with job control; no core file is left.
            let shell = #"set -m; ulimit -c 0; "$0" "$@"; echo stopped; fg"#
            let variables = ["TERM": "xterm", "TERM_PROGRAM": "ghostty"]
            let session = try TerminalSession(
                "/bin/sh", ["-c", shell, Program.path("byteclub"), "photos", "upload", file, "--limit-rate", "1M"],
                environment: Program.environment.merging(ann.environment) { $1 }.merging(variables) { $1 })
            try await eventually("it draws") { session.text.contains("\u{1B}]9;4;1;") }
            session.type([26])
            try await eventually("it stops") { session.text.contains("stopped\r\n") }
            let before = try #require(session.text.ranges(of: "stopped\r\n").first)
            #expect(Self.isCleared(session.text[..<before.lowerBound]), "\(session.text)")
            try await eventually("it goes on") { session.text[before.upperBound...].contains("\u{1B}]9;4;1;") }
            session.type([28])
            try await eventually("it ends") { session.status != nil }
            #expect(session.status == 128 + SIGQUIT && Self.isCleared(session.text[...]), "\(session.text)")
        }

        @Test("Ctrl-C in a pager belongs to the pager, which puts the terminal in order before the program ends")
        func pager() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            // More than a pipe holds, so that the program is writing when the key comes.
            let note = (0..<50_000).map { "line \($0)\n" }.joined()
            #expect(try await ann.byteclub("notes", "add", "long.md", input: Array(note.utf8)).status == 0)
            let pager = """
                old=$(stty -g </dev/tty)
                trap 'stty "$old" </dev/tty; printf "\\033[?25h"; exit 130' INT
                stty -echo -icanon </dev/tty
                printf '\\033[?25lready'
                while :; do sleep 0.05; done
                :
                """
            let session = try ann.startAtTerminal(["notes", "show", "long.md"], environment: ["PAGER": pager])
            try await eventually("the pager is there") { session.text.contains("ready") }
            #expect(!session.hasModesOfBefore)
            let (status, _) = try await session.interrupt()
            #expect(status == 130 && session.hasModesOfBefore, "\(session.text)")
            Self.expectCursor(session)
        }

        @Test(
            "a member's password is not shown when it is typed, and Ctrl-C instead of it leaves the terminal as it was")
        func password() async throws {
            let club = try await Club.start()
            _ = try await club.member("ann")
            let arguments = ["members", "password", "ann", "--data", club.server.data]
            let start = { try TerminalSession(Program.path("byteclub"), arguments, environment: Program.environment) }
            for answers in 0...1 {
                let session = try start()
                try await eventually("it asks") { session.text.contains("Password for ann") }
                if answers > 0 {
                    session.type(Array("correct horse\r".utf8))
                    try await eventually("it asks again") { session.text.contains("Repeat password") }
                }
                #expect(!session.hasModesOfBefore)
                let (status, _) = try await session.interrupt()
                #expect(status == 130 && session.hasModesOfBefore, "\(session.text)")
            }
            let session = try start()
            for (question, keys) in [
                ("Password for ann", "correct horse\r"), ("Repeat password", "correct hors\u{8}se\r"),
            ] {
                try await eventually("it asks") { session.text.contains(question) }
                session.type(Array(keys.utf8))
            }
            try await eventually("it ends") { session.status != nil }
            #expect(session.status == 0 && session.hasModesOfBefore && !session.text.contains("horse"))
        }

        @Test("SIGUSR1 has an upload tell how far it is, also where no terminal is")
        func report() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let file = ann.home + "/big.jpg"
            try LocalFiles.writeLarge(
                head: Fixture.bytes("panoramas/city.jpg"), length: 12 << 20, seed: Sample.seed("report"), to: file)
            let process = try ann.start(["photos", "upload", file, "--limit-rate", "1M", "--progress", "json"])
            _ = await process.line(of: .errors) { $0.contains("\"start\"") }
            process.send(SIGUSR1)
            #expect(await process.line(of: .errors) { $0.contains("\"progress\"") } != nil)
            process.send(SIGTERM)
            let events = await process.result()
            #expect(events.status == 143 && events.errorText.ranges(of: "\"summary\"").count == 1, "\(events)")
            let plain = try ann.start(["photos", "upload", file, "--limit-rate", "1M"])
            #expect(await plain.line(of: .errors) { $0.contains("uploading big.jpg, 12.0 MiB") } != nil)
            plain.send(SIGUSR1)
            #expect(await plain.line(of: .errors) { $0.contains("of 12.0 MiB") } != nil)
            plain.send(SIGINT)
            let result = await plain.result()
            #expect(result.status == 130 && !result.errors.contains(0x1B), "\(result)")
        }

        /// Whether the last that the terminal was told of its task bar is that there is nothing to show.
        private static func isCleared(_ text: Substring) -> Bool {
            text.ranges(of: "\u{1B}]9;4;").last.map { text[$0.lowerBound...].hasPrefix(cleared) } == true
        }

        /// A cursor that was hidden is shown in the end.
        private static func expectCursor(_ session: TerminalSession) {
            let hidden = session.text.ranges(of: "\u{1B}[?25l").last
            let shown = session.text.ranges(of: "\u{1B}[?25h").last
            if let hidden { #expect(shown.map { $0.lowerBound > hidden.lowerBound } == true) }
        }
    }
}
