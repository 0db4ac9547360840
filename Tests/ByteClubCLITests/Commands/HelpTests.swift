import ByteClubCore
import FoundationEssentials
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct HelpTests {
    static let commands = [
        "password", "open", "photos open",
        "", "login", "logout", "whoami", "notes", "notes list", "notes show", "notes add", "notes edit", "notes rm",
        "notes search", "notes history", "notes restore", "notes append", "notes mv", "photos", "photos list",
        "photos albums", "photos mv",
        "photos upload", "photos download",
        "photos show", "photos caption", "photos set-view", "photos thumbnail", "photos info", "photos rm",
        "photos history", "photos restore", "restore", "share", "sync",
        "sync pause", "sync resume", "sync select",
        "sync deselect", "sync selection", "sync verify", "sync deletes", "sync deletes review",
        "sync deletes approve", "sync deletes restore", "sync revert", "status", "why", "log", "conflicts",
        "conflicts list",
        "conflicts show", "conflicts resolve", "mirrors", "unlink", "doctor", "transfers", "transfers list",
        "transfers pause", "transfers resume", "transfers cancel", "transfers wait", "transfers clear",
        "transfers limit", "daemon", "completion", "connection",
    ]

    @Test("the help of each command is the committed one", arguments: commands)
    func help(_ command: String) async throws {
        let world = try World()
        let words = command.split(separator: " ").map(String.init) + ["--help"]
        let status = await ByteClub.run(words, in: world.context())
        #expect(status == .success)
        #expect(world.err.isEmpty)
        let name = command.isEmpty ? "byteclub" : command.split(separator: " ").joined(separator: "-")
        try Golden.check(world.out, "help-\(name).txt")
    }

    @Test("completions can be had for three shells", arguments: ["bash", "zsh", "fish"])
    func completions(_ shell: String) async throws {
        let world = try World()
        #expect(await world.run("--generate-completion-script", shell) == .success)
        #expect(world.out.contains("byteclub") && world.out.contains("thumbnail"))
        let words = "login logout whoami password open doctor notes photos"
        #expect(world.out.contains(words), "what may follow help")
        #expect(world.out.contains("insecure-http"), "helps leave it out, completions do not")
        #expect(world.out.contains("partialSphere"), "the kinds of photos")
        let script = world.out
        #expect(await world.run("completion", shell) == .success && world.out == script)
        #expect(await world.run("completion", "tcsh") == .usage)
    }

    @Test("the options for connections are described once, and each help of a command that takes them says where")
    func connection() async throws {
        let world = try World()
        #expect(await world.run("help", "connection") == .success)
        let topic = world.out
        for option in ["--server", "--folder", "--ca-file", "--pin", "--insecure-http"] {
            #expect(topic.contains(option))
        }
        #expect(await world.run("connection") == .success && world.out.contains("--insecure-http"))
        let reference = "\nCONNECTION OPTIONS: see 'byteclub help connection'\n"
        for line in ["notes list --help", "help notes list", "sync --help", "help login"] {
            let command = line.split(separator: " ").map(String.init)
            let world = try World()
            #expect(await ByteClub.run(command, in: world.context()) == .success)
            #expect(world.out.hasSuffix(reference) && !world.out.contains("--ca-file"), "\(command)")
        }
        for command in [[], ["notes"], ["mirrors"], ["connection"]] {
            let world = try World()
            #expect(await ByteClub.run(command + ["--help"], in: world.context()) == .success)
            #expect(!world.out.contains("CONNECTION OPTIONS"), "\(command)")
        }
    }

    @Test("the commands of the server's program are completed by what that program says of itself")
    func hosting() throws {
        let root = try JSONDecoder().decode(HostCommand.self, from: Data(Self.description.utf8))
        let offer = { (line: String, typed: String) in
            HostCompletion(words: line.split(separator: " ").map(String.init), typed: typed).offer(root)
        }
        #expect(offer("members", "") == .words(["invite", "remove"]))
        #expect(offer("members invite", "--") == .words(["--data", "--role"]))
        #expect(offer("members invite --data", "") == .path)
        #expect(offer("members invite --role", "e") == .words(["editor", "owner"]))
        #expect(offer("members --data remove", "") == .words(["invite", "remove"]), "a value is no command")
        #expect(offer("serve", "") == .words(["-d", "--data"]))
        #expect(offer("backup", "/s") == .path)
    }

    private static let description = """
        {"commandName": "byteclub-server", "shouldDisplay": true, "abstract": "x", "subcommands": [
          {"commandName": "serve", "arguments": [
            {"kind": "option", "names": [{"kind": "short", "name": "d"}, {"kind": "long", "name": "data"}], \
        "valueName": "dir", "shouldDisplay": true},
            {"kind": "option", "names": [{"kind": "long", "name": "secret"}], "valueName": "x", \
        "shouldDisplay": false}]},
          {"commandName": "members", "subcommands": [
            {"commandName": "invite", "arguments": [
              {"kind": "option", "names": [{"kind": "long", "name": "data"}], "valueName": "dir"},
              {"kind": "option", "names": [{"kind": "long", "name": "role"}], "valueName": "role", \
        "allValues": ["editor", "owner"], "completionKind": {"list": {"values": ["editor", "owner"]}}}]},
            {"commandName": "remove"}, {"commandName": "old", "shouldDisplay": false}]},
          {"commandName": "backup", "arguments": [{"kind": "positional", "valueName": "target"}]}]}
        """

    @Test("a completion gives names that bash expands to themselves and zsh takes for no description")
    func completionNames() async throws {
        let world = try World()
        for name in ["a: $(b).md", "it's.md", "x\u{202E}.md"] { try await world.put("x", "/byteclub/" + name) }
        for (shell, lines) in [
            ("bash", ["'it'\\''s.md'"]), ("zsh", ["a\\: $(b).md", "it's.md", " "]),
            ("fish", ["a: $(b).md", "it's.md"]),
        ] {
            let context = world.context(["SAP_SHELL": shell])
            let words = [
                "---completion", "notes", "edit", "--", "positional@0", "3", "0", "byteclub", "notes", "edit", "",
            ]
            #expect(await ByteClub.run(words, in: context) == .success)
            #expect(Set(world.out.split(separator: "\n").map(String.init)).isSuperset(of: lines), "\(world.out)")
            // In its line bash would run it.
            #expect(shell != "bash" || !world.out.contains("$"))
            #expect(world.err.isEmpty)
        }
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "no") }
        #expect(
            await world.run("---completion", "notes", "edit", "--", "positional@0", "3", "0", "b", "n", "e") == .success
        )
        #expect(world.out.isEmpty && world.err.isEmpty)
        // A server that does not answer is not waited for.
        world.server.fault = { _ throws(RemoteError) in try? await Task.sleep(for: .seconds(86_400)) }
        var hurried = world.context()
        hurried.completionPatience = .zero
        let words = ["---completion", "notes", "edit", "--", "positional@0", "3", "0", "b", "n", "e"]
        #expect(await ByteClub.run(words, in: hurried) == .success)
        #expect(world.out.isEmpty && world.err.isEmpty)
        #expect(await world.run("---completion", "--") == .success)
    }

    @Test("the version is one line")
    func version() async throws {
        let world = try World()
        #expect(await world.run("--version") == .success)
        #expect(world.out == "byteclub \(ByteClub.version)\n")
    }

    @Test(
        "a command line that makes no sense is one line on standard error and code 64",
        arguments: [
            ["nonsense"], ["notes", "show"], ["notes", "list", "--wrong"], ["photos", "upload"],
            ["photos", "upload", "a.jpg", "--quality", "0"], ["photos", "upload", "a.jpg", "--limit-rate", "fast"],
            ["photos", "thumbnail", "a.jpg", "-o", "x", "--size", "huge"], ["notes", "search", "a", "--limit", "0"],
            ["notes", "edit", "a", "--recover", "--discard"], ["sync", "--wrong"], ["sync", "deletes", "nonsense"],
            ["sync", "--limit-up", "fast"], ["sync", "--schedule", "never pause"], ["sync", "pause", "--for", "5"],
            ["sync", "pause", "--for", "0s"], ["sync", "select"],
            ["sync", "deselect"],
            ["share", "a.md", "--list"], ["share", "--list", "--revoke", "1"],
            ["share", "--list", "--expires", "1d"], ["share", "a.md", "--expires", "30s"],
            ["share", "a.md", "--expires", "2y"], ["why"], ["log", "--limit", "0"],
            ["log", "a.md", "--club"], ["log", "--server", "https://x"], ["conflicts", "show"],
            ["conflicts", "resolve", "a"],
            ["conflicts", "resolve", "a", "--keep", "nobody"],
            ["photos", "list", "--kind", "round"], ["photos", "list", "--since", "yesterday"],
            ["photos", "list", "--until", "2026-02-30"], ["photos", "list", "--near", "91,0"],
            ["photos", "list", "--near", "-33.9"], ["photos", "list", "--near", "1,2", "--deleted"],
            ["photos", "list", "--since", "2026-08-02", "--until", "2026-08-01"],
        ])
    func usage(_ arguments: [String]) async throws {
        let world = try World()
        #expect(await ByteClub.run(arguments, in: world.context()) == .usage)
        #expect(world.out.isEmpty)
        #expect(world.err.hasPrefix("byteclub: ") && world.err.split(separator: "\n").count == 1, "\(world.err)")
        #expect(world.connections.isEmpty)
    }

    @Test(
        "a wrong word for a command is told with what was meant, and is code 64",
        arguments: [
            (["notes", "ls"], "'byteclub notes list'"), (["notes", "remove", "x"], "'byteclub notes rm'"),
            (["notes", "cat", "x"], "'byteclub notes show'"), (["note", "list"], "'byteclub notes'"),
            (["photos", "uplaod", "x"], "'byteclub photos upload'"), (["version"], "'byteclub --version'"),
            (["-v"], "'byteclub --version'"), (["help", "nots"], "'byteclub notes'"),
            (["help", "notes", "hsitory"], "'byteclub notes history'"),
            (["conflicts", "ls"], "'byteclub conflicts list'"),
            (["upload", "x.jpg"], "'byteclub photos upload'"), (["list"], "'byteclub notes list'"),
            (["help", "nosuch"], "unknown command 'byteclub nosuch'; see"),
        ] as [([String], String)])
    func meant(_ arguments: [String], _ suggestion: String) async throws {
        let world = try World()
        #expect(await ByteClub.run(arguments, in: world.context()) == .usage)
        #expect(world.out.isEmpty && world.connections.isEmpty)
        #expect(world.err.contains(suggestion) && world.err.split(separator: "\n").count == 1, "\(world.err)")
    }

    @Test("letters put in, taken out, replaced and swapped are counted")
    func distance() {
        let count = { (left: String, right: String) in UnknownCommand.distance(Array(left.utf8), Array(right.utf8)) }
        #expect(count("list", "list") == 0 && count("", "rm") == 2 && count("lsit", "list") == 1)
        #expect(count("note", "notes") == 1 && count("kitten", "sitting") == 3)
    }
}
