import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Terminals and shells") struct TerminalTests {
        private static let long = "Minutes of the meeting about the new tripod, with all that was said and done.md"

        private static let offline = ["BYTECLUB_SERVER": "http://127.0.0.1:1", "BYTECLUB_TOKEN": "x"]

        /// A member with some notes and a mirror.
        private static func member(of club: Club) async throws -> MemberMachine {
            let ann = try await club.member("ann")
            for name in ["it's a trip; to \"x\".md", "run `id` $(id).md", long, "plan.md"] {
                let added = try await ann.byteclub("notes", "add", name, input: Array("Meet at the car park.\n".utf8))
                #expect(added.status == 0, "\(added)")
            }
            #expect(try await ann.sync().status == 0)
            return ann
        }

        @Test("no line is wider than the terminal, and without colour or in a pipe nothing drives it")
        func widths() async throws {
            let club = try await Club.start()
            let ann = try await Self.member(of: club)
            let hosting = [
                ["members", "invite", "--url", "https://club.example"],
                ["apps", "add", "A program with a long name"],
            ]
            for command in hosting {
                let made = try await ann.start(command + ["--data", club.server.data]).result()
                #expect(made.status == 0, "\(made)")
            }
            let commands = [
                ["notes", "list"], ["notes", "history", "plan.md"], ["notes", "search", "car"], ["log"],
                ["log", "--club"], ["status"], ["mirrors"], ["doctor"], ["sync", ann.mirror, "--once"],
                ["members", "list", "--data", club.server.data],
                ["members", "invitations", "--data", club.server.data],
                ["apps", "list", "--data", club.server.data],
            ]
            for command in commands {
                for (columns, environment) in [
                    (UInt16(40), [:]), (40, ["NO_COLOR": "1"]), (40, ["TERM": "dumb"]), (120, [:]),
                ] as [(UInt16, [String: String])] {
                    let result = try await ann.start(
                        command, environment: ["TERM": "xterm"].merging(environment) { $1 },
                        terminals: [.output, .errors], columns: columns
                    ).result()
                    #expect(result.status == 0 && result.errorText.isEmpty == (command.first != "sync"), "\(result)")
                    let bare = ["1", "32", "33", "31", "0"]
                        .reduce(result.text) { $0.replacing("\u{1B}[\($1)m", with: "") }
                    #expect(!bare.contains("\u{1B}") && (environment.isEmpty || bare == result.text), "\(result)")
                    for line in bare.split(separator: "\n") { #expect(line.count <= Int(columns), "\(line)") }
                }
                let piped = try await ann.start(command).result()
                #expect(!piped.output.contains(0x1B), "\(piped)")
            }
        }

        @Test("photos are drawn in text on a terminal that tells nothing, and in a pipe or without colour not at all")
        func photos() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let uploaded = try await ann.byteclub("photos", "upload", Fixture.path("panoramas/city.jpg"))
            #expect(uploaded.status == 0, "\(uploaded)")
            for command in [
                ["photos", "show", "city.jpg"], ["photos", "show", "city.jpg", "--view", "-30,10"],
                ["photos", "list", "--thumbs"],
            ] {
                let drawn = try await ann.start(
                    command, environment: ["TERM": "xterm", "COLORTERM": "truecolor"],
                    terminals: [.output, .errors], columns: 60
                ).result()
                #expect(drawn.status == 0 && drawn.text.contains("\u{1B}[0m"), "\(drawn)")
                #expect(drawn.text.contains("\u{2580}") && !drawn.text.contains("\u{1B}_G"), "\(command)")
                for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
                    let plain = try await ann.start(
                        command, environment: ["TERM": "xterm"].merging(environment) { $1 },
                        terminals: [.output, .errors], columns: 60
                    ).result()
                    #expect(plain.status == 0 && !plain.text.contains("\u{1B}"), "\(plain)")
                }
                let piped = try await ann.start(command).result()
                #expect(piped.status == 0 && !piped.output.contains(0x1B), "\(piped)")
                #expect(piped.text.contains("city.jpg"), "\(piped)")
            }
        }

        @Test("bash completes names with blanks and quotation marks, runs nothing of them, and is silent when offline")
        func completion() async throws {
            let bash = try #require(Program.system("bash"))
            let club = try await Club.start()
            let ann = try await Self.member(of: club)
            // Readline's part, as far as it matters: the words, and the function that the script names.
            let script = """
                byteclub() { "$PROGRAM" "$@"; }
                source <("$PROGRAM" completion bash)
                complete_words() {
                    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
                    _byteclub byteclub "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
                    printf '<%s>\\n' "${COMPREPLY[@]}"
                }
                eval "complete_words $LINE"
                """
            func complete(_ line: String, _ environment: [String: String] = [:]) async throws -> ProgramResult {
                try await Program.run(
                    bash, ["-c", script],
                    environment: ann.environment.merging(["PROGRAM": Program.path("byteclub"), "LINE": line]) { $1 }
                        .merging(environment) { $1 },
                    directory: ann.home)
            }
            let all = try await complete("byteclub notes edit ''")
            #expect(
                all.status == 0 && all.errors.isEmpty
                    && Set(all.lines) == ["<it's a trip; to \"x\".md>", "<\(Self.long)>", "<plan.md>"], "\(all)")
            #expect(try await complete("byteclub notes edit it").lines == ["<it's a trip; to \"x\".md>"])
            #expect(try await complete("byteclub why pl").lines == ["<plan.md>"])
            #expect(try await complete("byteclub unlink /").lines == ["<\(ann.mirror)>"])
            #expect(try await complete("byteclub share pl").lines == ["<plan.md>"])
            #expect(try await complete("byteclub members inv").lines == ["<invite>", "<invitations>"])
            #expect(try await complete("byteclub help ph").lines == ["<photos>"])
            let offline = try await complete("byteclub notes edit pl", Self.offline)
            #expect(offline.errors.isEmpty && offline.lines == ["<plan.md>"], "\(offline)")
            let nowhere = ["XDG_CONFIG_HOME": "/nowhere", "HOME": "/nowhere"]
            let stranger = try await complete("byteclub notes edit pl", nowhere)
            #expect(stranger.errors.isEmpty && stranger.lines == ["<>"], "\(stranger)")
        }
    }
}
