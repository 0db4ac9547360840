import TestSupport
import Testing

extension EndToEnd {
    /// Wrong uses of the commands for hosts, each with its exit code and what a person is told.
    @Suite("Wrong uses of the commands for hosts") struct WrongHostingTests {
        private static let members = [
            "members frob", "members add", "members add '' --data HOME/club", "members add hana --data HOME/club",
            "members add ../x --data HOME/club", "members add 'a\\x09b' --data HOME/club",
            "members add \(String(repeating: "a", count: 300)) --data HOME/club",
            "members add https://club.example --data HOME/club", "members add ann",
            "members add ann --role banana --data HOME/club", "members add ann --role viewer --data HOME/new",
            "members add ann --data ''", "members add ann --data HOME/empty", "members add ann --data HOME/empty/x",
            "members list --data HOME/nosuch", "members list --data HOME/folder", "members list ann --data HOME/club",
            "members remove nosuch --data HOME/club", "members remove hana --data HOME/club",
            "members role bo banana --data HOME/club", "members role bo --data HOME/club",
            "members role bo 'viewer\\x07' --data HOME/club", "members role hana viewer --data HOME/club",
            "members role nosuch viewer --data HOME/club", "members password nosuch --data HOME/club",
            "members password bo --data HOME/club", "members password bo --data HOME/club < HOME/text",
            "members reset nosuch --url https://a.example --data HOME/club",
            "members reset bo --url banana --data HOME/club", "members reset bo --data HOME/club",
            "members token nosuch --data HOME/club", "members invite --data HOME/club",
            "members invite --days 0 --data HOME/club", "members invite --days 99999999999999999999 --data HOME/club",
            "members invite --url ftp://a.example --data HOME/club",
            "members invite --url 'https://a.example/\\x1b' --data HOME/club",
            "members invite --url https://0.0.0.0:1 --data HOME/club", "members uninvite zzz --data HOME/club",
            "members uninvite '' --data HOME/club", "members invitations more --data HOME/club",
        ]

        private static let data = [
            "apps add --data HOME/club", "apps add '' --redirect https://a.example --data HOME/club",
            "apps add V --redirect banana --data HOME/club",
            "apps add V --redirect http://a.example/done --data HOME/club", "apps remove nosuch --data HOME/club",
            "apps list --data HOME/nosuch", "verify", "verify HOME/club", "verify --data HOME/folder",
            "verify --data HOME/empty", "backup", "backup --data HOME/club", "backup --data HOME/nosuch HOME/copy",
            "backup --data HOME/club HOME/folder", "backup --data HOME/club HOME/empty",
            "backup --data HOME/club HOME/club/copy", "backup --data HOME/club --keep 2 HOME/club/copies",
            "backup --data HOME/club HOME/nosuch/a/b", "backup --data HOME/club ''",
            "backup --data HOME/club --keep 0 HOME/copies", "backup --data HOME/club --keep banana HOME/copies",
            "backup --data HOME/club --keep 3 HOME/empty",
        ]

        private static let serving = [
            "", "--data ''", "--data HOME/empty", "--data HOME/empty/x", "--data HOME/club --listen banana",
            "--data HOME/club --listen 127.0.0.1:99999", "--data HOME/club --listen http://127.0.0.1:8017",
            "--data HOME/club --listen 0.0.0.0:0", "--data HOME/club --listen 192.0.2.1:80 --insecure-http",
            "--data HOME/club --public-url banana", "--data HOME/club --public-url ftp://club.example",
            "--data HOME/club --public-url https://0.0.0.0:1", "--data HOME/club --public-url 'https://a.example/ x'",
            "--data HOME/club --tls-certificate HOME/text",
            "--data HOME/club --tls-certificate HOME/text --tls-key HOME/text",
            "--data HOME/club --tls-certificate HOME/nosuch --tls-key HOME/nosuch",
            "--data HOME/club --tls-certificate HOME/folder --tls-key HOME/folder",
            "--data HOME/club --tls-self-signed --tls-certificate HOME/text --tls-key HOME/text",
            "--data HOME/club --log-level loud", "--data HOME/club --log-format xml",
            "--data HOME/club --connections 0", "--data HOME/club --idle-timeout 1e9", "--data HOME/club --quota 10X",
            "--data HOME/club --member-rate 1e9", "--data HOME/club --trusted-proxies 10.0.0.0/99",
            "--data HOME/club --proxy-header banana", "--data HOME/club --metrics-listen banana",
            "--data HOME/club --keep-history 1.5", "--data HOME/club --frob", "--data HOME/club more",
            "--config HOME/nosuch", "--config HOME/folder", "--config HOME/unknown.yaml",
            "--data HOME/club --config HOME/kind.yaml",
            "--config HOME/twice.yaml", "--config HOME/bytes",
        ]

        private static let variables = [
            "BYTECLUB_SERVER_LISTEN=banana serve --data HOME/club", "BYTECLUB_SERVER_FROB=1 serve --data HOME/club",
            "BYTECLUB_SERVER_CONFIG=HOME/nosuch serve --data HOME/club",
        ]

        @Test("each wrong use is told in one line for people, with its exit code, and changes nothing")
        func table() async throws {
            let folder = try TemporaryDirectory()
            let home = folder.path
            let files = [
                "empty": "", "text": "text", "bytes": "\u{1}\u{2}", "unknown.yaml": "port: 80\n",
                "kind.yaml": "connections: [1, 2]\n", "twice.yaml": "listen: a:1\nlisten: b:2\n", "folder/x": "x",
            ]
            for (name, text) in files { try LocalFiles.write(text, to: home + "/" + name) }
            for name in ["hana", "bo"] {
                let added = try await Program.run("byteclub", ["members", "add", name, "--data", home + "/club"])
                #expect(added.status == 0, "\(added)")
            }
            let before = try await (Self.paths(home), Self.club(home))
            var text = ""
            let lines =
                Self.members + Self.data + Self.serving.map { $0.isEmpty ? "serve" : "serve \($0)" } + Self.variables
            for line in lines {
                let use = WrongUse(line, home: home)
                let result = try await Program.run(
                    "byteclub", use.words, environment: use.environment.merging(["HOME": home]) { $1 },
                    directory: home, input: use.input.map { Fixture.bytes(at: $0) } ?? [], timeout: .seconds(30))
                let told = result.errorLines.map { $0.replacing(home, with: "HOME") }
                text += "byteclub \(line)\n  \(result.status)\n" + told.map { "  \($0)\n" }.joined()
                #expect(result.status != 0 && result.signal == nil && !result.isTimedOut, "\(line): \(result)")
                #expect(result.output.isEmpty, "\(line): \(result)")
                let objections = WrongUse.objections(to: told)
                #expect(objections.isEmpty, "\(line): \(objections) in \(told)")
                #expect(Self.paths(home) == before.0, "\(line) has made or removed files")
            }
            #expect(try await Self.club(home) == before.1)
            try Golden.check(text, "wrong-uses-hosting.txt")
        }

        /// All but what a club's data has.
        private static func paths(_ home: String) -> [String] { FileTree.paths(below: home, leavingOut: ["club"]) }

        /// What the commands tell of a club.
        private static func club(_ home: String) async throws -> [String] {
            var told: [String] = []
            for words in [["members", "list"], ["members", "invitations"], ["apps", "list"], ["verify"]] {
                told.append(try await Program.run("byteclub", words + ["--data", home + "/club"]).text)
            }
            return told
        }

        @Test(
            "what cannot be read or written is told, also where a program is started without standard streams",
            arguments: [
                ("byteclub members list --data HOME/club >/dev/full", 74),
                ("byteclub members add ann --data HOME/club >&-", 74),
                ("byteclub members password bo --data HOME/club <&-", 64),
                ("byteclub notes add a.md <&-", 66), ("byteclub login http://127.0.0.1:1 --token-stdin <&-", 66),
            ] as [(String, Int32)])
        func streams(line: String, status: Int32) async throws {
            let folder = try TemporaryDirectory()
            for name in ["hana", "bo"] {
                _ = try await Program.run("byteclub", ["members", "add", name, "--data", folder.path + "/club"])
            }
            let result = try await Program.run(
                "/bin/sh", ["-c", line.replacing("HOME", with: folder.path)],
                environment: [
                    "HOME": folder.path, "BYTECLUB_SERVER": "http://127.0.0.1:1", "BYTECLUB_TOKEN": "token",
                ])
            #expect(result.status == status && result.errorLines.count == 1, "\(result)")
            let check = try await Program.run("byteclub", ["verify", "--data", folder.path + "/club"])
            #expect(check.status == 0, "\(check)")
        }
    }
}
