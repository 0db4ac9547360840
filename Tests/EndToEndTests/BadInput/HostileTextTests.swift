import ByteClubCore
import Glibc
import HTTPTypes
import TestSupport
import Testing

extension EndToEnd {
    /// Names and texts of others, before a real terminal and in pipes.
    @Suite("Hostile names and texts") struct HostileTextTests {
        /// Recolours, clears and turns what comes after it, if a terminal obeys.
        private static let tricks = "\u{9B}31m\u{9B}2J\u{202E}\u{2067}"
        private static let note = "n\(tricks)dm.eton.md"
        /// Hides itself, renames the window and overwrites the line above; its last bytes are no UTF-8.
        private static let text =
            Array("seen\n\u{1B}[8mhidden\u{1B}]0;title\u{7}\r\n\u{1B}[1A\u{1B}[2Kfaked\u{202E}\u{9B}1A\n".utf8)
        private static let malformed = text + [0xE2, 0x80, 0x0A, 0xFF]

        private enum End: CaseIterable {
            case terminal, pipe

            var terminals: Set<SpawnedProcess.Stream> { self == .terminal ? [.output, .errors] : [] }
        }

        /// Runs a command before a terminal or in a pipe, and expects that nothing in what it says is obeyed.
        ///
        /// A line that is drawn again and again uses the carriage return on standard error.
        @discardableResult
        private static func expectHarmless(
            _ member: MemberMachine, _ command: [String], _ end: End, statuses: Set<Int32> = [0], input: String = "",
            environment: [String: String] = [:], location: SourceLocation = #_sourceLocation
        ) async throws -> ProgramResult {
            // The bold letters of titles are the program's own.
            let result = try await member.start(
                command, input: Array(input.utf8), environment: environment.merging(["NO_COLOR": "1"]) { $1 },
                terminals: end.terminals
            ).result()
            #expect(statuses.contains(result.status), "\(end): \(result)", sourceLocation: location)
            let (said, told) = (
                ordersToTerminal(in: result.output), ordersToTerminal(in: result.errors, allowing: ["\r"])
            )
            #expect(said.isEmpty, "\(end) gets \(said): \(result.output)", sourceLocation: location)
            #expect(told.isEmpty, "\(end) gets \(told): \(result.errors)", sourceLocation: location)
            return result
        }

        @Test("a note's text drives nobody's terminal, and a pipe gets its very bytes")
        func noteText() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            #expect(try await club.api.put(Self.malformed, "/byteclub/a.md").status == 200)
            let shown = try await ann.start(["notes", "show", "a.md"], terminals: [.output]).result()
            #expect(shown.status == 0 && ordersToTerminal(in: shown.output, allowing: ["\r"]).isEmpty, "\(shown)")
            #expect(shown.text.hasPrefix("seen\n^[[8mhidden^[]0;title^G\r\n^[[1A^[[2Kfaked<U+202E><U+009B>1A\n<E2>"))
            #expect(shown.errorLines.count == 1 && shown.errorText.contains("made visible"), "\(shown)")
            let piped = try await ann.byteclub("notes", "show", "a.md")
            #expect(piped.output == Self.malformed && piped.errors.isEmpty, "\(piped)")
        }

        @Test("neither notes nor photos drive the terminal by their names, whatever is done to them")
        func names() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let note = Self.note
            let photo = "p\(Self.tricks)gpj.jpg"
            try LocalFiles.write(Fixture.bytes("panoramas/night.jpg"), to: ann.home + "/" + photo)
            let thumbnail = "t\(Self.tricks).jpg"
            for end in End.allCases {
                for json in [[], ["--json"]] {
                    func run(_ command: [String], _ statuses: Set<Int32>, editor: String = "false") async throws {
                        try await Self.expectHarmless(
                            ann, command + json, end, statuses: statuses, input: "one", environment: ["EDITOR": editor])
                    }
                    try await run(["notes", "add", note, "--force"], [0])
                    try await run(["notes", "add", note], [73])
                    try await run(["notes", "list"], [0])
                    try await run(["notes", "search", "31m"], [0])
                    try await run(["notes", "history", note], [0])
                    let rev = try #require(try await club.api.revisions("/byteclub/" + note).first?.rev)
                    try await run(["notes", "edit", note], [75])
                    try await run(["notes", "edit", note], [0], editor: "sed -i s/one/two/")
                    try await run(["notes", "edit", note], [65], editor: "truncate -s 0")
                    try await run(["notes", "edit", note], [78], editor: "no-such-editor")
                    try await run(["notes", "restore", note, rev.description], [0])
                    try await run(["notes", "restore", note, "1a00000001"], [65, 66])
                    try await run(["notes", "rm", note], [0])
                    try await run(["notes", "rm", note], [66])
                    try await run(["notes", "history", "b" + note], [66])
                    try await run(["photos", "list"], [0])
                    try await run(["photos", "info", photo], [66])
                    try await run(["photos", "rm", photo], [66])
                    try await run(["photos", "upload", "b" + photo], [66])
                    try await run(["photos", "download", photo], [73])
                    try await run(["photos", "download", "b" + photo], [66])
                    try await run(["photos", "thumbnail", photo, "-o", thumbnail], [66])
                }
                try await Self.expectHarmless(ann, ["notes", "show", note], end, statuses: [66])
                try await Self.expectHarmless(ann, ["notes", "show", "\u{1B}[2J"], end, statuses: [65])
                try await Self.expectHarmless(ann, ["notes", "\u{1B}[2J\u{202E}"], end, statuses: [64])
                // What a script reads is the very path; a terminal is not driven by it.
                for command in [
                    ["upload", photo], ["info", photo], ["download", photo, "-o", ann.home + "/\(end)\(photo)"],
                    ["thumbnail", photo, "-o", ann.home + "/t\(end)\(photo)"], ["upload", photo], ["rm", photo],
                ] {
                    let result = try await ann.start(["photos"] + command, terminals: end.terminals).result()
                    #expect(result.status == 0, "\(result)")
                    #expect(ordersToTerminal(in: result.errors, allowing: ["\r"]).isEmpty, "\(result)")
                    if end == .terminal { #expect(ordersToTerminal(in: result.output).isEmpty, "\(result)") }
                    if end == .pipe, command.first == "upload" {
                        #expect(result.lines == ["/byteclub/photos/" + photo])
                    }
                }
            }
        }

        @Test("a mirror's files drive the terminal neither by their names nor by the two texts of a conflict")
        func mirror() async throws {
            for end in End.allCases {
                let club = try await Club.start()
                let ann = try await club.member("ann")
                func run(_ command: [String], _ statuses: Set<Int32>) async throws {
                    for json in [[], ["--json"]] {
                        try await Self.expectHarmless(ann, command + json, end, statuses: statuses)
                    }
                }
                let note = Self.note
                let folder = "d\(Self.tricks)rid"
                #expect(try await club.api.put(Array("base\n".utf8), "/byteclub/" + note).status == 200)
                #expect(try await club.api.put(Array("x".utf8), "/byteclub/\(folder)/in.md").status == 200)
                try await run(["sync", ann.mirror, "--once", "--dry-run"], [0])
                try await Self.expectHarmless(ann, ["sync", ann.mirror, "--once"], end)
                // Names of this disk that no server takes.
                try LocalFiles.write("x", to: ann.mirror + "/esc\u{1B}[2J\u{9B}\u{202E}.md")
                try LocalFiles.write("mine \u{1B}[8m\u{202E}\u{9B}8m\r\n", to: ann.mirror + "/" + note)
                #expect(try await club.api.put(Self.text, "/byteclub/" + note).status == 200)
                try await run(["sync", ann.mirror, "--once"], [0, 75])
                try await run(["status", ann.mirror], [0])
                try await run(["why", note], [0])
                try await run(["why", note + "none"], [66])
                try await run(["log"], [0])
                try await run(["conflicts", "list"], [0])
                let shown = try await ann.start(["conflicts", "show", note], terminals: end.terminals).result()
                #expect(shown.status == 0, "\(shown)")
                if end == .terminal {
                    #expect(ordersToTerminal(in: shown.output, allowing: ["\r"]).isEmpty, "\(shown)")
                    #expect(
                        shown.text.contains("^[[1A^[[2Kfaked") && shown.errorText.contains("made visible"), "\(shown)")
                } else {
                    #expect(shown.text.utf8.contains(0x1B) && shown.errors.isEmpty, "\(shown)")
                    for line in Self.text.split(separator: 0x0A) {
                        #expect(shown.output.split(separator: 0x0A).contains { $0.dropFirst().elementsEqual(line) })
                    }
                    #expect(shown.output.suffix(19).elementsEqual("+mine \u{1B}[8m\u{202E}\u{9B}8m\r\n".utf8))
                }
                try await run(["conflicts", "show", note + "none"], [66])
                let json = try await Self.expectHarmless(ann, ["conflicts", "show", note, "--json"], end)
                #expect(
                    try JSONValue.parse(json.output)["diff"]?.text?.contains("\u{1B}[2Kfaked\u{202E}\u{9B}1A") == true)
                try await Self.expectHarmless(ann, ["conflicts", "resolve", note, "--keep", "mine"], end)
                try await run(["sync", "deselect", folder], [0])
                try await run(["sync", "selection"], [0])
                try await run(["sync", "select", folder], [0])
                try await run(["sync", ann.mirror, "--once"], [0, 75])
                try await run(["sync", "verify"], [0, 65])
                for name in FileTree.names(in: ann.mirror) ?? [] where name != ".byteclub" {
                    TemporaryDirectory.remove(ann.mirror + "/" + name)
                }
                try await run(["sync", ann.mirror, "--once"], [75])
                try await run(["sync", "deletes", "review"], [0])
                try await run(["sync", "deletes", "restore"], [0])
                try await run(["sync", ann.mirror, "--once"], [0, 75])
                try await run(["doctor"], [0, 65, 66, 69, 77, 78])
            }
        }

        @Test("neither a server's answers nor a settings file drive the terminal")
        func answers() async throws {
            let liar = try await LiarClub.start(.usual)
            let info = try await liar.club.api.send(.get, "/1/account/info")
            let account = String(decoding: info.bytes, as: UTF8.self)
            #expect(account.contains("warden"))
            let trick = "\(Self.tricks)\\u001b[2J\\u000a"
            let hostile = account.replacing("warden", with: "war\(trick)den")
                .replacing(#""byteclub":{"#, with: #""byteclub":{"club":"\#(trick)","#)
            #expect(hostile.contains(#""club":""#))
            let fault = #"{"error": "no \u001b[2J\u009b2J\u202e\u000d\u000ano"}"#
            for end in End.allCases {
                liar.lie.withLock { $0 = (.instead(status: 200, body: hostile), "/1/account/info") }
                try await Self.expectHarmless(liar.ann, ["whoami"], end)
                try await Self.expectHarmless(liar.ann, ["whoami", "--json"], end)
                try await Self.expectHarmless(liar.ann, ["doctor"], end, statuses: [0, 66, 78])
                let token = try String(decoding: LocalToken.read(liar.ann), as: UTF8.self)
                try await Self.expectHarmless(
                    liar.ann, ["login", liar.proxy.url, "--token-stdin"], end, input: token)
                liar.lie.withLock { $0 = (.instead(status: 400, body: fault), "/1/") }
                for command in [
                    ["notes", "list"], ["notes", "show", "a"], ["photos", "info", "a"], ["whoami"], ["doctor"],
                ] {
                    try await Self.expectHarmless(
                        liar.ann, command, end, statuses: [1, 65, 66, 69, 73, 75, 76, 77, 78])
                }
                liar.lie.withLock { $0 = nil }
                let config = liar.ann.home + "/config/byteclub/config"
                try LocalFiles.write("\u{1B}[2J\u{9B}31m\u{202E} = 1\n", to: config)
                try await Self.expectHarmless(liar.ann, ["notes", "list"], end, statuses: [78])
                try LocalFiles.write("limit-rate = \u{1B}[2J\u{202E}\n", to: config)
                try await Self.expectHarmless(liar.ann, ["photos", "upload", "x.jpg"], end, statuses: [66, 78])
                TemporaryDirectory.remove(config)
            }
        }

        @Test("the command that a failed edit advises runs nothing of what is in the note's name")
        func pastedAdvice() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let name = "trip'\u{301};touch pwned;'\u{301}.md"
            #expect(try await club.api.put(Array("one\n".utf8), "/byteclub/" + name).status == 200)
            let editor = ann.home + "/editor"
            try LocalFiles.write("#!/bin/sh\necho two >>\"$1\"\nexit ${FAILS:-1}\n", to: editor)
            unsafe chmod(editor, 0o755)
            var environment = ["EDITOR": editor, "VISUAL": ""]
            let failed = try await ann.byteclub("notes", "edit", name, environment: environment)
            #expect(failed.status == 75, "\(failed)")
            let advice = try #require(failed.errorText.split(separator: "resume with ").last)
            let command = try #require(advice.split(separator: "\n").first)
            environment["FAILS"] = "0"
            let pasted = try await Program.run(
                "/bin/sh", ["-c", String(command)], environment: ann.environment.merging(environment) { $1 },
                directory: ann.home)
            #expect(!LocalFiles.exists(ann.home + "/pwned"), "\(command)")
            #expect(pasted.status == 0, "\(command): \(pasted)")
            #expect(try await club.api.get("/byteclub/" + name).bytes == Array("one\ntwo\ntwo\n".utf8))
        }
    }
}

/// The token that a member's login stored.
private enum LocalToken {
    static func read(_ member: MemberMachine) throws -> [UInt8] {
        let stored = try JSONValue.parse(Fixture.bytes(at: member.home + "/config/byteclub/credentials"))
        return Array(try #require(stored["token"]?.text).utf8)
    }
}
