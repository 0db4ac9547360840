import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Tab in the shells") struct CompletionTests {
        /// A shell that reads no settings of its user's.
        enum Shell: String, CaseIterable {
            case bash, zsh, fish

            var file: String? { Program.system(rawValue) }

            var arguments: [String] {
                switch self {
                case .bash: ["--norc", "--noprofile", "-i"]
                case .zsh: ["-f", "-i"]
                case .fish: ["--no-config", "-i"]
                }
            }

            /// What brings our completions, as the help says.
            var setUp: String {
                switch self {
                case .bash: "bind 'set bell-style none'; source <(byteclub completion bash)"
                case .zsh: "autoload -Uz compinit; compinit -u -D; source <(byteclub completion zsh)"
                case .fish: "byteclub completion fish | source"
                }
            }
        }

        /// A line as it is typed, with Tab at its end, and what the shell makes of it, with an X typed behind.
        static let lines = [
            ("byteclub notes show Ge", "byteclub notes show Gear/X"),
            ("byteclub notes show Gear/te", "byteclub notes show Gear/tent.md X"),
            ("byteclub sync clu", "byteclub sync club/X"),
            ("byteclub notes add new.md pic", "byteclub notes add new.md picture.txt X"),
            ("byteclub photos list --kind sph", "byteclub photos list --kind sphere X"),
            ("byteclub photos list --ca-file pic", "byteclub photos list --ca-file picture.txt X"),
            ("byteclub conflicts resolve a.md --keep th", "byteclub conflicts resolve a.md --keep theirs X"),
            ("byteclub completion fi", "byteclub completion fish X"),
            ("byteclub serve --da", "byteclub serve --data X"),
            ("byteclub members invita", "byteclub members invitations X"),
            ("byteclub members add --role ed", "byteclub members add --role editor X"),
            ("byteclub help conn", "byteclub help connection X"),
            // fish asks nobody for the values of options that its script does not know.
            ("byteclub serve --data clu", "byteclub serve --data club/X"),
        ]

        // On machines without zsh or fish the run says which it skips.
        @Test(
            "names, folders without a blank behind them, values, files, and what the server's program takes",
            arguments: Shell.allCases.filter { $0.file != nil || $0 == .bash })
        func tab(_ shell: Shell) async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            for name in ["Gear/tent.md", "Gear/rope.md", "plan.md"] {
                #expect(try await ann.byteclub("notes", "add", name, input: [0x78]).status == 0)
            }
            unsafe mkdir(ann.home + "/club", 0o755)
            try LocalFiles.write("x", to: ann.home + "/picture.txt")
            let environment = Program.environment.merging(ann.environment) { $1 }
                .merging(["TERM": "xterm", "PS1": "> ", "INPUTRC": "/dev/null"]) { $1 }
            let session = try TerminalSession(
                try #require(shell.file), shell.arguments, environment: environment)
            defer { session.send(SIGKILL) }
            // What is echoed has quotation marks that what is printed has not.
            session.type(Array("cd \(ann.home); \(shell.setUp); echo rea''dy\r".utf8))
            try await eventually("\(shell) is ready") { session.text.contains("ready") }
            let lines = Self.lines.dropLast(shell == .fish ? 1 : 0)
            for (number, (typed, made)) in lines.enumerated() where shell != .fish || !typed.contains(" --role ") {
                // The line that Tab has made is printed, from its beginning.
                session.type(Array("\(typed)\tX\u{1}echo do''ne\(number) \r".utf8))
                var line: String?
                try await eventually("\(shell) completes '\(typed)'") {
                    line = session.text.split(whereSeparator: \.isNewline)
                        .first { $0.hasPrefix("done\(number) ") }.map(String.init)
                    return line != nil
                }
                #expect(line == "done\(number) \(made)", "\(shell)")
            }
        }

        @Test("shells that are not tried here", arguments: Shell.allCases)
        func missing(_ shell: Shell) {
            if shell.file == nil { print("completion is not tried in \(shell): it is not installed") }
            #expect(shell != .bash || shell.file != nil)
        }
    }
}
