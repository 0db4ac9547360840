import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The third example, as scripts use it, and killed.
    @Suite("downloads", .enabled(if: Wire.usual == .extended, "no mirror, so once is enough")) struct DownloadsTests {
        private static let songs = [1001, 1002, 1003]

        private func song(_ id: Int) -> String { "/previews/\(id).wav" }

        private func url(_ id: Int, _ machine: ListenerMachine) -> String { machine.server.url + song(id) }

        private func file(_ id: Int, _ machine: ListenerMachine) -> String { "\(machine.folder)/\(id).wav" }

        private func expectFiles(
            _ ids: [Int], _ machine: ListenerMachine, location: SourceLocation = #_sourceLocation
        ) {
            for id in ids {
                let bytes = machine.server.file(song(id))?.bytes
                #expect(Fixture.bytes(at: file(id, machine)) == bytes, sourceLocation: location)
            }
            // Nothing is left but the files.
            let files = FileTree(machine.folder).files
            #expect(files.count == ids.count, "\(files)", sourceLocation: location)
        }

        private func holdAll(_ count: Int?, _ machine: ListenerMachine) {
            for id in Self.songs { machine.server.change(song(id)) { $0.holdsAfter = count } }
        }

        @Test(
            "downloads three side by side in each kind of session, and nothing a second time",
            arguments: ["default", "ephemeral", "background"])
        func sideBySide(session: String) async throws {
            try await withListener("downloads") { machine in
                holdAll(50_000, machine)
                let arguments =
                    Self.songs.map { url($0, machine) } + ["--session", session, "-o", machine.folder]
                let process = try machine.start(arguments)
                try await eventually("all three under way") {
                    Self.songs.allSatisfy { machine.server.bytesSent(for: song($0)) == 50_000 }
                }
                holdAll(nil, machine)
                let result = await process.result()
                #expect(result.status == 0, "\(result)")
                #expect(Set(result.lines) == Set(Self.songs.map { file($0, machine) }), "\(result)")
                #expect(result.errorLines.contains("1001.wav: done, 320.0 kB"), "\(result)")
                #expect(result.errorLines.contains { $0.hasPrefix("1002.wav: running") }, "\(result)")
                #expect(!result.errors.contains(0x1B), "\(result)")
                expectFiles(Self.songs, machine)

                let again = try await machine.start(arguments).result()
                #expect(again.status == 0 && Set(again.lines) == Set(result.lines), "\(again)")
                #expect(Self.songs.allSatisfy { machine.server.requests(for: song($0)).count == 1 })
            }
        }

        @Test("tells scripts each event as an object, and a data task's pieces as they come")
        func json() async throws {
            try await withListener("downloads") { machine in
                let files = try await machine.run(url(1001, machine), "-o", machine.folder, "--json")
                #expect(files.status == 0 && files.errors.isEmpty, "\(files)")
                let events = try JSONValue.lines(files.output)
                #expect(events.first?["event"] == .text("state") && events.first?["state"] == .text("waiting"))
                #expect(events.last?["state"] == .text("done") && events.last?["bytes"] == .number(320_044))
                #expect(events.allSatisfy { $0["download"] == .number(1) && $0["url"] == .text(url(1001, machine)) })
                #expect(events.allSatisfy { $0["file"] == .text(file(1001, machine)) && $0["piece"] == nil })

                let data = try await machine.run(url(1002, machine), "--as", "data", "-o", machine.folder, "--json")
                #expect(data.status == 0, "\(data)")
                let pieces = try JSONValue.lines(data.output).filter { $0["event"] == .text("piece") }
                let counts = pieces.compactMap { $0["piece"]?.number }
                #expect(counts.reduce(0, +) == 256_044 && counts.allSatisfy { $0 > 0 }, "\(data)")
                #expect(pieces.last?["pieces"] == .number(Double(pieces.count)), "\(data)")
                expectFiles([1001, 1002], machine)
                let lines = try await machine.run(url(1003, machine), "--as", "data", "-o", machine.folder)
                #expect(
                    lines.status == 0 && lines.errorText.contains("192.0 kB, ") && lines.errorText.contains("piece"))
            }
        }

        @Test("says in one line what it cannot do, and does nothing then")
        func refusals() async throws {
            try await withListener("downloads") { machine in
                let song = url(1001, machine)
                let refused: [(Int32, String, [String])] = [
                    (64, "name a URL", []), (64, "http://", ["ftp://example.org/x"]), (64, "http://", ["x.jpg"]),
                    (64, "one file, '1001.wav'", [song, song]),
                    (64, "one file, '1001.wav'", [song, "http://127.0.0.1:1/a/1001.wav?b"]),
                    (64, "no session 'other'", [song, "--session", "other"]),
                    (64, "no tasks 'stream'", [song, "--as", "stream"]),
                    (64, "no data tasks", [song, "--session", "background", "--as", "data"]),
                    (64, "nothing is under way", ["--session", "background"]), (64, "daemon", [song, "daemon"]),
                ]
                for (status, words, arguments) in refused {
                    expectRefusal(
                        by: "downloads", try await machine.start(arguments).result(), status, mentioning: words)
                }
                #expect(try await machine.run("--nothing").status == 64)
                #expect(machine.server.requests.isEmpty && machine.daemon == nil)
                #expect(!LocalFiles.exists(machine.folder))
                try LocalFiles.write("", to: machine.folder)
                expectRefusal(
                    by: "downloads", try await machine.run(song, "-o", machine.folder), 73, mentioning: "music")
            }
        }

        @Test("downloads the rest when one cannot be had, and ends with the reason where all have the same")
        func failures() async throws {
            try await withListener("downloads") { machine in
                let both = [url(1001, machine), url(7, machine), "-o", machine.folder]
                let partly = try await machine.start(both).result()
                #expect(partly.status == 75 && partly.lines == [file(1001, machine)], "\(partly)")
                #expect(partly.errorLines.contains("7.wav: failed, the server answered 404"), "\(partly)")
                #expect(partly.errorLines.last?.hasPrefix("downloads: 1 of 2") == true, "\(partly)")
                for form in ["download", "data"] {
                    let missing = try await machine.run(url(7, machine), "--as", form, "-o", machine.folder)
                    #expect(missing.status == 66 && missing.output.isEmpty, "\(missing)")
                }
                let background = try await machine.run(url(7, machine), "--session", "background", "-o", machine.folder)
                #expect(background.status == 66 && background.errorText.contains("404"), "\(background)")
                expectFiles([1001], machine)
            }
        }

        @Test("SIGTERM keeps the part of a default session, and nothing of an ephemeral one or of a data task")
        func stopped() async throws {
            let cases: [([String], Bool)] = [
                ([], true), (["--session", "ephemeral"], false), (["--as", "data"], false),
            ]
            for (arguments, isKept) in cases {
                try await withListener("downloads") { machine in
                    machine.server.change(song(1001)) { $0.holdsAfter = 150_000 }
                    let command = [url(1001, machine), "-o", machine.folder] + arguments
                    let process = try machine.start(command)
                    _ = await process.line(of: .errors) { $0.hasPrefix("1001.wav: running") }
                    if arguments.first != "--as" { try await eventually("the part") { machine.part == 150_000 } }
                    process.send(SIGTERM)
                    let result = await process.result()
                    #expect(result.status == 143 && result.output.isEmpty, "\(result)")
                    #expect(FileTree(machine.folder).files.count == (isKept ? 2 : 0), "\(arguments)")
                    machine.server.change(song(1001)) { $0.holdsAfter = nil }
                    #expect(try await machine.start(command).result().status == 0)
                    expectFiles([1001], machine)
                    let range = machine.server.requests(for: song(1001)).last?.range
                    #expect(range == (isKept ? "bytes=150000-" : nil), "\(arguments)")
                }
            }
        }

        @Test("killed at any moment, the next start goes on from the last byte on disk")
        func killed() async throws {
            try await withListener("downloads") { machine in
                let command = [url(1001, machine), "-o", machine.folder]
                let kills = try ExampleKills(
                    "downloads", machine, song(1001), to: file(1001, machine), hasDaemon: false)
                while !kills.isOver { try await kills.next(command) }
                try await kills.finish(command)
                for ending in ["resume", "lock"] {
                    #expect(!LocalFiles.exists("\(machine.folder)/.1001.wav.\(ending)"), kills.comment)
                }
            }
        }

        @Test("a download that was paused in the background goes on where the same command is given in a pipe")
        func pausedBefore() async throws {
            try await withListener("downloads") { machine in
                machine.server.change(song(1001)) { $0.holdsAfter = 50_000 }
                let command = [url(1001, machine), "--session", "background", "-o", machine.folder]
                let first = try machine.startAtTerminal(command)
                try await eventually("the part") { first.text.contains("15.6% of ") }
                first.type(Array("p".utf8))
                try await eventually("the pause") { first.text.contains("paused ") }
                first.type(Array("q".utf8))
                try await eventually("the end") { first.status == 75 }

                let met = try await machine.run("--session", "background")
                #expect(met.status == 75 && met.output.isEmpty, "\(met)")
                #expect(met.errorLines.last?.contains("1 paused until r resumes it; ") == true, "\(met)")
                machine.server.change(song(1001)) { $0.holdsAfter = nil }
                let last = try await machine.start(command).result()
                #expect(last.status == 0 && last.lines == [file(1001, machine)], "\(last)")
                #expect(machine.server.requests(for: song(1001)).map(\.range) == [nil, "bytes=50000-"])
                expectFiles([1001], machine)
            }
        }

        @Test("a second program leaves a download to the first one, and downloads the rest")
        func twice() async throws {
            try await withListener("downloads") { machine in
                let reason = "1001.wav: failed, another program is downloading this file"
                machine.server.change(song(1001)) { $0.holdsAfter = 50_000 }
                let command = [url(1001, machine), "-o", machine.folder]
                let first = try machine.start(command)
                try await eventually("the part") { machine.part == 50_000 }
                let second = try await machine.start(command).result()
                #expect(second.status == 75 && second.output.isEmpty && second.errorLines.contains(reason), "\(second)")
                #expect(second.errorLines.last == "downloads: 1 of 1 not downloaded", "\(second)")
                let third = try await machine.start(command + [url(1003, machine)]).result()
                #expect(third.status == 75 && third.lines == [file(1003, machine)], "\(third)")
                #expect(third.errorLines.contains(reason), "\(third)")
                // The file of another URL would be the same one.
                let other = try await machine.run(url(1001, machine) + "?other", "-o", machine.folder)
                #expect(other.status == 75 && other.errorLines.contains(reason), "\(other)")

                // The lock ends with its program.
                first.kill9()
                _ = await first.result()
                machine.server.change(song(1001)) { $0.holdsAfter = nil }
                let last = try await machine.start(command).result()
                #expect(last.status == 0 && last.lines == [file(1001, machine)], "\(last)")
                let requests = machine.server.requests(for: song(1001))
                #expect(requests.map(\.range) == [nil, "bytes=50000-"], "\(requests)")
                expectFiles([1001, 1003], machine)
            }
        }

        @Test("of two programs that start at the same time one downloads, and the other one says so")
        func sameTime() async throws {
            try await withListener("downloads") { machine in
                machine.server.change(song(1001)) { $0.holdsAfter = 50_000 }
                let command = [url(1001, machine), "-o", machine.folder]
                let both = [try machine.start(command), try machine.start(command)]
                try await eventually("the end of one") { both.contains { $0.hasEnded } }
                machine.server.change(song(1001)) { $0.holdsAfter = nil }
                let results = [await both[0].result(), await both[1].result()]
                #expect(results.map(\.status).sorted() == [0, 75], "\(results)")
                #expect(machine.server.requests(for: song(1001)).count == 1)
                expectFiles([1001], machine)
            }
        }

        @Test("a file that is another by now comes whole after a kill")
        func replaced() async throws {
            try await withListener("downloads") { machine in
                machine.server.change(song(1002)) { $0.holdsAfter = 150_000 }
                let process = try machine.start([url(1002, machine), "-o", machine.folder])
                try await eventually("the part") { machine.part == 150_000 }
                process.kill9()
                _ = await process.result()
                machine.server.change(song(1002)) { $0.holdsAfter = nil }
                machine.server.replace(song(1002), by: WaveAudio.tone(seconds: 7, frequency: 77))
                let result = try await machine.run(url(1002, machine), "-o", machine.folder)
                #expect(result.status == 0, "\(result)")
                expectFiles([1002], machine)
                #expect(machine.server.requests(for: song(1002)).last?.status == 200)
            }
        }

        @Test("program and daemon are killed: what was asked for is downloaded once, and met again by its identifier")
        func backgroundKilled() async throws {
            try await withListener("downloads") { machine in
                machine.server.replace("/film.mp4", by: noise(1_300_000))
                let file = machine.folder + "/film.mp4"
                let command = [
                    machine.server.url + "/film.mp4", "--session", "background", "-o", machine.folder, "--json",
                ]
                let kills = try ExampleKills(
                    "downloads background", machine, "/film.mp4", to: file, hasDaemon: true)
                while !kills.isOver {
                    try await kills.next(command)
                    let tasks = FileTree.names(in: machine.state + "/transfers") ?? []
                    #expect(tasks.count { $0.hasSuffix(".task") } <= 1, "\(kills.comment): \(tasks)")
                }
                let result = try await kills.finish(command)
                let events = try JSONValue.lines(result.output)
                #expect(Set(events.map { $0["download"] }) == [.number(1)], "\(kills.comment): \(result)")
                #expect(events.last?["state"] == .text("done"), "\(kills.comment): \(result)")
                expectRefusal(
                    by: "downloads", try await machine.run("--session", "background"), 64, mentioning: "nothing")
            }
        }
    }
}
