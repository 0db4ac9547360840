import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("README") struct ReadmeTests {
        /// The README, and the pages that continue it, in the order in which their commands work.
        private static let pages = [
            "README.md", "Sources/ByteClubServer/Documentation.docc/Hosting.md",
            "Sources/ByteClubCLI/Documentation.docc/Guide.md",
        ]

        private static func text(of page: String) throws -> String {
            String(decoding: Fixture.bytes(at: Fixture.projectRoot + "/" + page), as: UTF8.self)
        }

        @Test("the README has at most 900 words, and each page that it and the pages link to is there")
        func size() throws {
            let readme = try Self.text(of: "README.md")
            #expect(readme.split(whereSeparator: \.isWhitespace).count <= 900)
            for page in Self.pages {
                let folder = page.split(separator: "/").dropLast().joined(separator: "/")
                for link in try Self.text(of: page).matches(of: /\]\(([^)#]+)\)/).map(\.output.1)
                where !link.contains("://") {
                    let path = "\(Fixture.projectRoot)/\(folder)/\(link)"
                    #expect(unsafe access(path, R_OK) == 0, "\(page) links to \(link)")
                }
            }
        }

        @Test("every byteclub command in the README, the hosts' page and the guide works, in order, for a newcomer")
        func commands() async throws {
            var script = ReadmeScript()
            for page in Self.pages {
                let count = script.lines.count
                script.append(try Self.text(of: page))
                #expect(script.lines.count > count, "\(page) shows no command")
            }
            let folder = try TemporaryDirectory()
            let port = try ReadmeScript.freePort()
            let home = folder.path + "/home"
            try LocalFiles.write(script.shell(port: port), to: home + "/script")
            for name in Sample.panoramas {
                try LocalFiles.write(Fixture.bytes("panoramas/" + name), to: home + "/work/" + name)
            }
            let result = try await Program.run(
                "/bin/bash", [home + "/script"],
                environment: [
                    "HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home + "/state",
                    "EDITOR": "true", "VISUAL": "",
                ], directory: home + "/work", timeout: .seconds(300))
            #expect(result.status == 0, "\(result)\n--\n\(script.shell(port: port))")
            print("README, hosting and guide: \(script.lines.count) commands")
        }
    }
}

/// The commands of pages: lines in fenced `sh`, `console` or indented blocks that run `byteclub`, and those that prepare
/// them.
struct ReadmeScript {
    /// The commands as the pages have them, without prompts and comments.
    private(set) var lines: [String] = []

    /// Appends the commands of a page.
    ///
    /// - Parameters:
    ///   - text: The page.
    ///   - isCommand: Whether a line of a block is one of the commands.
    mutating func append(_ text: String, where isCommand: (String) -> Bool = Self.isRunnable) {
        var fence: String?
        var isBlock = false
        var unfinished = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                isBlock = fence == nil && ["```sh", "```console"].contains(line)
                fence = fence == nil ? line : nil
                continue
            }
            guard fence != nil ? isBlock : line.hasPrefix("    ") else { continue }
            // In a console the rest is what the commands say.
            if fence == "```console", !line.contains("$ ") { continue }
            unfinished += Self.command(line)
            if unfinished.hasSuffix("\\") {
                unfinished.removeLast()
                continue
            }
            if isCommand(unfinished) { lines.append(unfinished) }
            unfinished = ""
        }
    }

    /// A line without indentation, prompt (`$ `, `ann$ `) and comment.
    private static func command(_ line: String) -> String {
        var command = line.drop { $0 == " " }
        if let dollar = command.firstIndex(of: "$"), command[..<dollar].allSatisfy(\.isLetter),
            command[dollar...].hasPrefix("$ ")
        {
            command = command[dollar...].dropFirst(2)
        }
        if let comment = command.ranges(of: " #").first { command = command[..<comment.lowerBound] }
        return String(command)
    }

    /// Whether a line runs `byteclub`, or prepares that.
    static func isRunnable(_ line: String) -> Bool {
        let words = line.split(separator: " ")
        guard let first = words.first(where: { !$0.contains("=") || $0.hasPrefix("-") }) else { return false }
        return ["byteclub", "byteclub-server", "openssl", "echo", "printf", "mkdir", "cp"].contains(first)
            || line.contains("| byteclub ")
    }

    /// A shell script that runs the lines in order and ends with the first that fails.
    ///
    /// Addresses become a free loopback port and absolute folders move below the home; what runs until Ctrl-C runs
    /// in the background; a login that would ask for a token gets the one that the README's club made last.
    func shell(port: UInt16) -> String {
        var script = """
            set -u
            fail() { echo "README: exit $1: $2" >&2; kill $(jobs -p) 2>/dev/null; exit 1; }
            mkdir -p ~/srv ~/club

            """
        for line in lines {
            var command = line
            for (pattern, replacement) in Self.replacements(port) {
                command = command.replacing(pattern, with: replacement)
            }
            let quoted = "'" + line.replacing("'", with: "'\\''") + "'"
            if command.contains("byteclub serve") || command.contains("byteclub-server --data") {
                script += "\(command) >~/listening 2>~/server.log &\n"
                script += "for i in $(seq 3000); do grep -q '^listening on' ~/listening && break; sleep 0.02; done\n"
                script += "grep -q '^listening on' ~/listening || { cat ~/server.log >&2; fail 1 \(quoted); }\n"
            } else if command.contains("members add") {
                script += "\(command) | tee ~/token || fail $? \(quoted)\n[ -s ~/token ] || fail 1 \(quoted)\n"
            } else if command.contains("byteclub login"), !command.contains("--token-stdin") {
                script += "\(command) --token-stdin <~/token || fail $? \(quoted)\n"
            } else if Self.runsOn(command) {
                script += "\(command) & sleep 1; kill -0 $! || fail 1 \(quoted)\n"
                // What runs in the background does not hear Ctrl-C before it asks to.
                script += "while kill -INT $! 2>/dev/null; do sleep 1; done\n"
                script += "wait $!; [ $? = 130 ] || fail $? \(quoted)\n"
            } else {
                // The group's input, since a command's own would replace its pipe.
                script += "{ \(command); } </dev/null || fail $? \(quoted)\n"
            }
        }
        return script + "kill $(jobs -p) 2>/dev/null\nexit 0\n"
    }

    /// Whether a command is a sync that goes on until Ctrl-C.
    private static func runsOn(_ command: String) -> Bool {
        guard let sync = command.ranges(of: "byteclub sync").first else { return false }
        let rest = command[sync.upperBound...].split(separator: " ")
        let hasSubcommand = rest.first.map { $0.first?.isLetter == true } ?? false
        return !hasSubcommand && !rest.contains("--once") && !rest.contains("--dry-run")
    }

    private static func replacements(_ port: UInt16) -> [(Regex<Substring>, String)] {
        [
            (/(?:0\.0\.0\.0|127\.0\.0\.1|localhost|[a-z.]+\.example):[0-9]+/, "127.0.0.1:\(port)"),
            (/(?:^|\s)\/(?:srv|var|opt)\//, " ~/srv/"),
            // The link that somebody was sent is the one that the club's log begins with.
            (/\bLINK\b/, "\"$(grep '^https:.*/invite/' ~/server.log)\""),
        ]
    }

    /// A loopback port that nobody listens on.
    static func freePort() throws -> UInt16 {
        let proxy = try LyingProxy(to: 0) { _ in nil }
        defer { proxy.stop() }
        return proxy.port
    }
}
