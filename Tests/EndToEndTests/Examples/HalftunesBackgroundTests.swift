import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The first example's downloads that go on without it.
    @Suite("halftunes in the background", .enabled(if: Wire.usual == .extended, "no mirror, so once is enough"))
    struct HalftunesBackgroundTests {
        private func song(_ id: Int) -> String { "/previews/\(id).wav" }

        /// How the download of a track stands, as scripts are told.
        private func download(_ id: Int, _ machine: ListenerMachine) async throws -> JSONValue? {
            let result = try await machine.run("downloads", "--json")
            #expect(result.status == 0, "\(result)")
            return try JSONValue.parse(result.output).elements.last { $0["trackId"] == .number(Double(id)) }
        }

        private func waitUntil(_ id: Int, is state: String, _ machine: ListenerMachine) async throws {
            try await eventually("\(id) is \(state)") { try await download(id, machine)?["state"] == .text(state) }
        }

        private func expectFile(_ id: Int, _ machine: ListenerMachine) async throws {
            let download = try #require(await download(id, machine))
            let bytes = try #require(machine.server.file(song(id))?.bytes)
            #expect(Fixture.bytes(at: download["file"]?.text ?? "") == bytes)
            #expect(download["bytes"] == .number(Double(bytes.count)) && download["total"] == download["bytes"])
        }

        /// Starts a download that stays under way, and waits until its bytes are told.
        private func startHeld(_ id: Int, at count: Int, _ machine: ListenerMachine) async throws {
            machine.server.change(song(id)) { $0.holdsAfter = count }
            let result = try await machine.run("download", "\(id)", "-o", machine.folder, "--background")
            #expect(result.status == 0 && result.lines.count == 1 && result.errors.isEmpty, "\(result)")
            try await eventually("the first bytes") { machine.server.bytesSent(for: song(id)) == count }
        }

        @Test("downloads when the program has ended, and keeps what is done in the list")
        func background() async throws {
            try await withListener("halftunes") { machine in
                #expect(try await machine.run("downloads", "--json").text == "[\n\n]\n")
                #expect(machine.daemon == nil)
                try await startHeld(1001, at: 100_000, machine)
                try await waitUntil(1001, is: "running", machine)
                let held = try #require(await download(1001, machine))
                #expect(held["name"] == .text("The Half Tunes - Morning Ferry") && held["id"]?.text?.utf8.count == 16)
                let again = try await machine.run("download", "1001", "-o", machine.folder, "--background")
                #expect(again.status == 0 && again.lines.count == 1, "\(again)")

                machine.server.change(song(1001)) { $0.holdsAfter = nil }
                #expect(try await machine.run("download", "1002", "-o", "music", "--background").status == 0)
                for id in [1001, 1002] {
                    try await waitUntil(id, is: "done", machine)
                    try await expectFile(id, machine)
                    #expect(machine.server.requests(for: song(id)).count == 1)
                }
                let list = try await machine.run("downloads")
                #expect(
                    list.lines.count == 2 && list.lines.first?.hasSuffix("Ferry: 100.0% of 320.0 kB") == true, "\(list)"
                )
                let there = try await machine.run("download", "1001", "-o", machine.folder, "--background")
                #expect(there.status == 0 && there.errorText.contains("is there already"), "\(there)")
                #expect(FileTree(machine.folder).files.count == 2)
            }
        }

        @Test("holds, goes on and gives up what it is told to, by ID, its beginning or the track")
        func changes() async throws {
            try await withListener("halftunes") { machine in
                try await startHeld(1001, at: 100_000, machine)
                let id = try #require(await download(1001, machine)?["id"]?.text)
                let paused = try await machine.run("pause", id)
                #expect(paused.status == 0 && paused.lines.first?.hasPrefix("\(id)  paused ") == true, "\(paused)")
                machine.server.change(song(1001)) { $0.holdsAfter = nil }
                #expect(try await download(1001, machine)?["state"] == .text("paused"))
                #expect(try await machine.run("resume", String(id.prefix(8)).uppercased()).status == 0)
                try await waitUntil(1001, is: "done", machine)
                try await expectFile(1001, machine)
                let requests = machine.server.requests(for: song(1001))
                #expect(requests.count == 2 && requests.last?.range == "bytes=100000-", "\(requests)")

                try await startHeld(1002, at: 100_000, machine)
                let cancelled = try await machine.run("cancel", "1002")
                #expect(cancelled.status == 0, "\(cancelled)")
                try await waitUntil(1002, is: "failed", machine)
                try await eventually("nothing is left of it") { FileTree(machine.folder).files.count == 1 }
                // The same command once more begins anew.
                machine.server.change(song(1002)) { $0.holdsAfter = nil }
                #expect(try await machine.run("download", "1002", "-o", "music", "--background").status == 0)
                try await waitUntil(1002, is: "done", machine)
                try await expectFile(1002, machine)

                for (arguments, words) in [
                    (["pause", "77"], "no download '77'"), (["resume", ""], "no download"),
                    (["cancel", "1001"], "is done already"), (["pause", "1001", "zz"], "is done already"),
                ] {
                    let result = try await machine.start(arguments).result()
                    expectRefusal(by: "halftunes", result, 66, mentioning: words)
                }
            }
        }

        @Test("records a track once when two programs ask for it, and names its file safely")
        func twice() async throws {
            let name = "a/\u{301}b" + String(repeating: "\u{F6}", count: 600)
            let song = Catalogue.Song(7, name, by: ".Ann", from: "Odd", seconds: 1)
            let machine = try ListenerMachine("halftunes", Catalogue(songs: [song], podcasts: []))
            defer { machine.close() }
            machine.server.change(song.path) { $0.holdsAfter = 1000 }
            let both = try (0..<3).map { _ in
                try machine.start(["download", "7", "-o", machine.folder, "--background"])
            }
            for program in both {
                let result = await program.result()
                #expect(result.status == 0 && result.lines.count == 1, "\(result)")
            }
            #expect(try await machine.run("downloads").lines.count == 1)
            machine.server.change(song.path) { $0.holdsAfter = nil }
            try await waitUntil(7, is: "done", machine)
            let file = try #require(await download(7, machine)?["file"]?.text)
            #expect(
                file.hasPrefix(machine.folder + "/Ann - a-\u{301}b")
                    && file.utf8.count < machine.folder.utf8.count + 200)
        }

        @Test("downloads no file in the foreground and in the background at once")
        func bothWays() async throws {
            try await withListener("halftunes") { machine in
                func refuse(_ words: String, _ arguments: String...) async throws {
                    let result = try await machine.start(arguments + ["-o", machine.folder]).result()
                    expectRefusal(by: "halftunes", result, 75, mentioning: words)
                    #expect(machine.server.requests(for: song(1002)).isEmpty, "\(arguments)")
                }
                try await startHeld(1001, at: 100_000, machine)
                try await waitUntil(1001, is: "running", machine)
                try await refuse("Morning Ferry' is running in the background", "download", "1002", "1001")
                #expect(try await machine.run("pause", "1001").status == 0)
                try await refuse("Morning Ferry' is paused in the background", "download", "1002", "1001")
                #expect(machine.server.requests(for: song(1001)).count == 1)
                #expect(try await machine.run("cancel", "1001").status == 0)
                try await eventually("nothing is left of it") { FileTree(machine.folder).files.isEmpty }

                machine.server.change(song(1001)) { $0.holdsAfter = 150_000 }
                let process = try machine.start(["download", "1001", "-o", machine.folder])
                try await eventually("the first bytes, and a journal") {
                    machine.part == 150_000 && LocalFiles.exists(machine.state + "/parts/1001")
                }
                let running = "Morning Ferry' is running in the foreground"
                try await refuse(running, "download", "1002", "1001", "--background")
                let resumed = try await machine.run("resume", "1001")
                expectRefusal(by: "halftunes", resumed, 75, mentioning: running)
                process.send(SIGINT)
                #expect(await process.result().status == 130)
                try await refuse("'halftunes download 1001' goes on", "download", "1002", "1001", "--background")
                #expect(machine.server.requests(for: song(1001)).count == 2)

                machine.server.change(song(1001)) { $0.holdsAfter = nil }
                let result = try await machine.run("download", "1001", "-o", machine.folder)
                #expect(result.status == 0 && result.lines.count == 1, "\(result)")
                let requests = machine.server.requests(for: song(1001))
                #expect(requests.count == 3 && requests.last?.range == "bytes=150000-", "\(requests)")
                // It is there for both, and another file of the track is another download.
                let there = try await machine.run("download", "1001", "-o", machine.folder, "--background")
                #expect(there.status == 0 && there.errorText.contains("is there already"), "\(there)")
                #expect(try await machine.run("download", "1001", "-o", "elsewhere", "--background").status == 0)
            }
        }

        @Test("goes on with the next command when the daemon was killed")
        func killed() async throws {
            try await withListener("halftunes") { machine in
                try await startHeld(1001, at: 200_000, machine)
                let id = try #require(await download(1001, machine)?["id"]?.text)
                try await eventually("a journal, and the first bytes") {
                    LocalFiles.exists("\(machine.state)/transfers/\(id).resume")
                        && FileTree(machine.folder).entries.values.contains {
                            if case .file(let bytes, _) = $0 { bytes > 0 } else { false }
                        }
                }
                let daemon = try #require(machine.daemon)
                kill(daemon, SIGKILL)
                machine.server.change(song(1001)) { $0.holdsAfter = nil }
                try await waitUntil(1001, is: "done", machine)
                try await expectFile(1001, machine)
                let second = try #require(machine.daemon)
                #expect(second != daemon)
                let requests = machine.server.requests(for: song(1001))
                #expect(
                    requests.count == 2 && requests.last?.ifRange != nil && requests.last?.status == 206, "\(requests)")
                #expect(FileTree(machine.folder).files.count == 1)
            }
        }

        @Test("program and daemon are killed at any moment: one download, listed once, with the bytes that are on disk")
        func killedOften() async throws {
            let song = Catalogue.Song(7, "Long Ferry", by: "Ann", from: "Harbour", seconds: 40)
            let machine = try ListenerMachine("halftunes", Catalogue(songs: [song], podcasts: []))
            defer { machine.close() }
            let file = machine.folder + "/Ann - Long Ferry [7].wav"
            let size = song.audio.count
            let command = ["download", "7", "-o", machine.folder, "--background"]
            let kills = try ExampleKills("halftunes background", machine, song.path, to: file, hasDaemon: true)
            var wasListed = false
            while !kills.isOver {
                try await kills.next(command)
                // This starts the daemon again, which gets no byte.
                let rows = try JSONValue.parse(await machine.run("downloads", "--json").output).elements
                #expect(rows.count == 1 || (rows.isEmpty && !wasListed), kills.comment)
                wasListed = wasListed || !rows.isEmpty
                #expect(!rows.isEmpty || machine.part == 0, kills.comment)
                guard !rows.isEmpty else { continue }
                try await eventually("the true state of \(kills.comment)") {
                    let row = try await download(7, machine)
                    let (states, bytes) =
                        kills.isThere ? (["done"], size) : (["waiting", "running"], machine.part)
                    return states.contains(row?["state"]?.text ?? "") && row?["bytes"] == .number(Double(bytes))
                }
                kills.perhapsKillDaemon()
            }
            try await kills.finish(command)
            try await waitUntil(7, is: "done", machine)
            #expect(try await machine.run("downloads").lines.count == 1, kills.comment)
        }

        @Test("tells why a download failed, and tries again when it is told to")
        func failed() async throws {
            try await withListener("halftunes") { machine in
                machine.server.change(song(1003)) { $0.status = 404 }
                #expect(try await machine.run("download", "1003", "-o", machine.folder, "--background").status == 0)
                try await waitUntil(1003, is: "failed", machine)
                #expect(try await download(1003, machine)?["error"]?.text?.contains("404") == true)
                machine.server.change(song(1003)) { $0.status = nil }
                #expect(try await machine.run("resume", "1003").status == 0)
                try await waitUntil(1003, is: "done", machine)
                try await expectFile(1003, machine)
                #expect(try await download(1003, machine)?["error"] == nil)
            }
        }
    }
}
