import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The commands of the examples' pages, in order, with the tests' server in place of the network's.
    @Suite("The examples' pages", .enabled(if: Wire.usual == .extended, "no mirror, so once is enough"))
    struct ExamplePagesTests {
        /// How a command is run where success in a pipe is not all that its page promises.
        private enum Way {
            /// It is not run, for a reason.
            case left(String)
            /// It is run after a preparation, which returns the command to run.
            case after((String) async throws -> String)
            /// It is interrupted by Ctrl-C while the server holds a file; then the server sends the rest.
            case interrupted(file: String)
            /// It is run at a terminal, where keys are typed after texts have appeared, and ends with a text on it.
            case atTerminal([(text: String, keys: String)], end: String)
        }

        /// Runs all commands of an example's page; each must end with success.
        private func run(_ program: String, _ machine: ListenerMachine, _ ways: [String: Way]) async throws {
            var script = ReadmeScript()
            let page = Fixture.bytes(at: "\(Fixture.projectRoot)/Sources/Examples/\(program)/README.md")
            script.append(String(decoding: page, as: UTF8.self), where: { _ in true })
            let commands = script.lines.map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
            #expect(commands.count { $0.hasPrefix(program) } > 5, "\(commands)")
            #expect(Set(ways.keys).isSubset(of: commands), "some ways are of no command: \(commands)")
            let player = try machine.makePlayer("player", status: 0) + "/player"
            let environment = ["\(program.uppercased())_PLAYER": player, "COLORTERM": "truecolor"]
            for command in commands {
                var line = command.replacing("https://example.org", with: machine.server.url)
                switch ways[command] {
                case .left(let reason):
                    print("\(program): '\(command)' is not run: \(reason)")
                    continue
                case .interrupted(let file):
                    machine.server.change(file) { $0.holdsAfter = 1000 }
                    let process = try machine.startShell(line, environment: environment)
                    try await eventually("the start of '\(command)'") { machine.server.bytesSent(for: file) == 1000 }
                    process.send(SIGINT)
                    let result = await process.result()
                    #expect(result.status == 130, "'\(command)': \(result)")
                    machine.server.change(file) { $0.holdsAfter = nil }
                    continue
                case .atTerminal(let steps, let end):
                    let session = try machine.startShellAtTerminal(line, environment: environment)
                    for (text, keys) in steps {
                        try await eventually("'\(text)' of '\(command)'") { session.text.contains(text) }
                        session.type(Array(keys.utf8))
                    }
                    try await eventually("the end of '\(command)'") { session.status != nil }
                    #expect(session.status == 0 && session.text.contains(end), "'\(command)': \(session.text)")
                    continue
                case .after(let prepare): line = try await prepare(line)
                case nil: break
                }
                let result = try await machine.startShell(line, environment: environment).result()
                #expect(result.status == 0, "'\(command)': \(result)")
            }
        }

        private func expectFile(_ file: String, _ path: String, _ machine: ListenerMachine) {
            let bytes = machine.server.file(path)?.bytes
            #expect(bytes != nil && Fixture.bytes(at: "\(machine.home.path)/\(file)") == bytes, "\(file)")
        }

        @Test("each command of halftunes' page works, in order")
        func halftunes() async throws {
            try await withListener("halftunes") { machine in
                let evening = "/previews/1002.wav"
                try await run(
                    "halftunes", machine,
                    [
                        "halftunes download 1002 --background": .after {
                            machine.server.change(evening) { $0.holdsAfter = 100_000 }
                            return $0
                        },
                        // The page's ID is of another machine.
                        "halftunes pause 5349": .after {
                            let list = try JSONValue.parse(await machine.run("downloads", "--json").output)
                            let ids = list.elements.compactMap { download in download["id"]?.text }
                            let id = try #require(ids.first)
                            return $0.replacing("5349", with: String(id.prefix(8)))
                        },
                        ".build/release/Benchmarks catalogue &": .left("the tests' server has the same catalogue"),
                        "export HALFTUNES_CATALOGUE=http://127.0.0.1:40123": .left(
                            "the variable names the tests' server for all commands"),
                    ])
                for (id, name) in [(1001, "Morning"), (1002, "Evening")] {
                    expectFile("Music/The Half Tunes - \(name) Ferry [\(id)].wav", "/previews/\(id).wav", machine)
                }
            }
        }

        @Test("each command of singlecast's page works, in order")
        func singlecast() async throws {
            let episodes = (1...7).map {
                Catalogue.Episode(
                    "ferry-\($0)", "Ferry \($0)", date: "Mon, 0\($0) Jan 2024 06:00:00 GMT", seconds: 2)
            }
            let podcast = Catalogue.Podcast(77, "Ferry Talk", by: "Ann", episodes: episodes)
            let machine = try ListenerMachine("singlecast", Catalogue(songs: [], podcasts: [podcast]))
            defer { machine.close() }
            func hold(_ count: Int?) {
                for episode in episodes { machine.server.change(episode.path) { $0.holdsAfter = count } }
            }
            try await run(
                "singlecast", machine,
                [
                    "singlecast search": .atTerminal(
                        [("Search: _", "fe"), ("> Ferry Talk", "\r")], end: "subscribed to Ferry Talk, with 7 episodes"),
                    "singlecast download --all --background": .after {
                        hold(1000)
                        return $0
                    },
                    "singlecast download": .after {
                        hold(nil)
                        return $0
                    },
                ])
            for (folder, count) in [("Podcasts", 2), (".", 5)] {
                let names = FileTree.names(in: "\(machine.home.path)/\(folder)") ?? []
                #expect(names.count { $0.hasPrefix("Ferry ") } == count, "\(folder): \(names)")
            }
            #expect(episodes.allSatisfy { machine.server.requests(for: $0.path).count <= 2 })
        }

        @Test("each command of downloads' page works, in order")
        func downloads() async throws {
            try await withListener("downloads") { machine in
                for path in ["/ridge.jpg", "/lake.jpg"] {
                    machine.server.replace(path, by: Fixture.bytes("panoramas/city.jpg"))
                }
                machine.server.replace("/film.mp4", by: noise(300_000))
                try await run(
                    "downloads", machine,
                    [
                        "downloads https://example.org/film.mp4 --session background": .interrupted(file: "/film.mp4"),
                        "downloads https://example.org/ridge.jpg --as data": .after {
                            TemporaryDirectory.remove(machine.home.path + "/ridge.jpg")
                            return $0
                        },
                        "downloads https://example.org/ridge.jpg --show": .atTerminal([], end: "\u{2580}"),
                    ])
                for path in ["/ridge.jpg", "/lake.jpg", "/film.mp4"] {
                    expectFile(String(path.dropFirst()), path, machine)
                }
                expectFile("Pictures/ridge.jpg", "/ridge.jpg", machine)
                #expect(machine.server.requests(for: "/ridge.jpg").count == 3)
                #expect(machine.server.requests(for: "/film.mp4").count == 1)
            }
        }
    }
}
