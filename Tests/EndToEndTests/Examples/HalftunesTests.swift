import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The first example, as a person uses it.
    @Suite("halftunes", .enabled(if: Wire.usual == .extended, "no mirror, so once is enough"))
    struct HalftunesTests {
        private static let names = [
            1001: "The Half Tunes - Morning Ferry [1001].wav", 1002: "The Half Tunes - Evening Ferry [1002].wav",
            1003: "The Half Tunes - Night Ferry [1003].wav",
        ]

        private func song(_ id: Int) -> String { "/previews/\(id).wav" }

        private func file(_ id: Int, _ machine: ListenerMachine) -> String {
            machine.folder + "/" + (Self.names[id] ?? "")
        }

        private func expectFiles(_ ids: [Int], _ machine: ListenerMachine) {
            for id in ids { #expect(Fixture.bytes(at: file(id, machine)) == machine.server.file(song(id))?.bytes) }
            // Nothing is left but the files.
            #expect(FileTree(machine.folder).files.count == ids.count, "\(FileTree(machine.folder).files)")
        }

        @Test("finds songs and tells them to people and to scripts")
        func search() async throws {
            try await withListener("halftunes") { machine in
                let list = try await machine.run("search", "half", "tunes", "FERRY")
                #expect(
                    list.lines == [
                        "1001  The Half Tunes - Morning Ferry (Harbour)",
                        "1002  The Half Tunes - Evening Ferry (Harbour)",
                        "1003  The Half Tunes - Night Ferry (Harbour)",
                    ], "\(list)")
                let strange = try await machine.run("search", "süd & \"nord\"")
                #expect(strange.lines.count == 1 && !strange.text.contains("\u{1B}"), "\(strange)")
                let json = try JSONValue.parse(await machine.run("search", "ferry", "--json", "--limit", "1").output)
                #expect(json.elements.count == 1)
                #expect(json.elements.first?["trackId"] == .number(1001))
                #expect(json.elements.first?["name"] == .text("Morning Ferry"))
                #expect(json.elements.first?["previewUrl"] == .text(machine.server.url + song(1001)))
                let none = try await machine.run("search", "zzz")
                #expect(none.status == 0 && none.output.isEmpty && none.errorLines.count == 1, "\(none)")
                #expect(try await machine.run("search", "zzz", "--json").text == "[\n\n]\n")
            }
        }

        @Test("downloads three at once, and nothing a second time")
        func threeAtOnce() async throws {
            try await withListener("halftunes") { machine in
                let ids = [1001, 1002, 1003]
                for id in ids { machine.server.change(song(id)) { $0.holdsAfter = 50_000 } }
                let arguments = ["download"] + ids.map(String.init) + ["-o", machine.folder]
                let process = try machine.start(arguments, terminals: [.errors])
                try await eventually("all three under way") {
                    ids.allSatisfy { machine.server.bytesSent(for: song($0)) == 50_000 }
                }
                var held = 50_000
                try await eventually("the progress of each") {
                    held += 100
                    for id in ids { machine.server.change(song(id)) { $0.holdsAfter = held } }
                    return ["320.0 kB", "256.0 kB", "192.0 kB"].allSatisfy { total in
                        process.errorsSoFar.split(separator: "\n").contains {
                            $0.contains("Ferry: ") && $0.contains(".") && $0.contains("% of \(total)")
                        }
                    }
                }
                for id in ids { machine.server.change(song(id)) { $0.holdsAfter = nil } }
                let result = await process.result()
                #expect(result.status == 0, "\(result)")
                #expect(Set(result.lines) == Set(ids.map { file($0, machine) }), "\(result)")
                expectFiles(ids, machine)

                let again = try await machine.start(arguments).result()
                #expect(again.status == 0 && Set(again.lines) == Set(result.lines), "\(again)")
                #expect(again.errorLines.allSatisfy { $0.hasSuffix(": is there already") }, "\(again)")
                #expect(ids.allSatisfy { machine.server.requests(for: song($0)).count == 1 })
            }
        }

        @Test("gives files names that cannot do harm")
        func names() async throws {
            try await withListener("halftunes") { machine in
                let result = try await machine.run("download", "1004", "1005", "1006", "-o", machine.folder)
                #expect(result.status == 0, "\(result)")
                let files = FileTree(machine.folder).files
                #expect(files.count == 3 && files.allSatisfy { !$0.hasPrefix(".") && $0.utf8.count <= 220 }, "\(files)")
                #expect(files.contains("AC-DC  - ..-..-Überfahrt- [31m \"Nord\" & Süd [1004].wav"), "\(files)")
                #expect(files.contains("- .hidden [1005].wav"), "\(files)")
                #expect(!result.errorText.contains("\u{1B}"))
            }
        }

        @Test("goes on where it was when it was stopped by Ctrl-C")
        func interrupted() async throws {
            try await withListener("halftunes") { machine in
                machine.server.change(song(1001)) { $0.holdsAfter = 150_000 }
                let process = try machine.start(["download", "1001", "1003", "-o", machine.folder])
                try await eventually("a part and the whole of the other") {
                    machine.server.bytesSent(for: song(1001)) == 150_000
                        && LocalFiles.exists(file(1003, machine)) && machine.part == 150_000
                }
                process.send(SIGINT)
                let stopped = await process.result()
                #expect(stopped.status == 130 && stopped.lines == [file(1003, machine)], "\(stopped)")
                machine.server.change(song(1001)) { $0.holdsAfter = nil }
                let result = try await machine.run("download", "1001", "1003", "-o", machine.folder)
                #expect(result.status == 0, "\(result)")
                expectFiles([1001, 1003], machine)
                let requests = machine.server.requests(for: song(1001))
                #expect(requests.count == 2 && requests.last?.range == "bytes=150000-", "\(requests)")
                #expect(requests.last?.bytesSent == 320_044 - 150_000)
                #expect(machine.server.requests(for: song(1003)).count == 1)
            }
        }

        @Test(
            "goes on from the last byte when it was killed, unless the file is another by now",
            arguments: [false, true])
        func killed(isReplaced: Bool) async throws {
            try await withListener("halftunes") { machine in
                machine.server.change(song(1002)) { $0.holdsAfter = 150_000 }
                let download = ["download", "1002", "-o", machine.folder]
                let process = try machine.start(download)
                let journal = machine.state + "/parts/1002"
                try await eventually("a journal, and the first bytes") {
                    LocalFiles.exists(journal) && machine.part == 150_000
                }
                #expect(try await listed(1002, machine)?["state"] == .text("running"))
                process.kill9()
                #expect(await process.result().signal == SIGKILL)
                let killed = try await listed(1002, machine)
                #expect(killed?["state"] == .text("paused") && killed?["bytes"] == .number(150_000), "\(killed as Any)")
                #expect(killed?["total"] == .number(256_044) && killed?["file"] == .text(file(1002, machine)))
                machine.server.change(song(1002)) { $0.holdsAfter = nil }
                if isReplaced {
                    machine.server.replace(song(1002), by: WaveAudio.tone(seconds: 7, frequency: 77))
                }
                // Without numbers it goes on with all that was stopped.
                let result = try await machine.start(isReplaced ? ["download"] : download).result()
                #expect(result.status == 0 && result.lines == [file(1002, machine)], "\(result)")
                expectFiles([1002], machine)
                #expect(try await listed(1002, machine)?["state"] == .text("done"))
                #expect(try await machine.run("download").status == 64)
                let last = try #require(machine.server.requests(for: song(1002)).last)
                #expect(last.range == "bytes=150000-" && last.status == (isReplaced ? 200 : 206), "\(last)")
            }
        }

        @Test("gives up a download that was killed, with all that is left of it")
        func cancelled() async throws {
            try await withListener("halftunes") { machine in
                func refuse(_ status: Int32, _ words: String, _ arguments: String...) async throws {
                    let result = try await machine.start(arguments).result()
                    expectRefusal(by: "halftunes", result, status, mentioning: words)
                }
                machine.server.change(song(1002)) { $0.holdsAfter = 150_000 }
                let download = ["download", "1002", "-o", machine.folder]
                let process = try machine.start(download)
                try await eventually("a journal, and the first bytes") {
                    LocalFiles.exists(machine.state + "/parts/1002") && machine.part == 150_000
                }
                try await refuse(75, "Evening Ferry' is running in the foreground", "cancel", "1002")
                process.kill9()
                #expect(await process.result().signal == SIGKILL)
                try await refuse(66, "'halftunes download' goes on with it", "pause", "1002")
                try await refuse(66, "no download '77'", "cancel", "1002", "77")
                #expect(try await listed(1002, machine)?["bytes"] == .number(150_000))

                let result = try await machine.run("cancel", "1002", "1002")
                #expect(result.status == 0 && result.errorLines.count == 1, "\(result)")
                #expect(try await machine.run("downloads", "--json").text == "[\n\n]\n")
                #expect(FileTree(machine.folder).files.isEmpty, "\(FileTree(machine.folder).files)")
                #expect(FileTree.names(in: machine.state + "/parts") == [])
                try await refuse(66, "no download '1002'", "cancel", "1002")
                #expect(machine.daemon == nil)

                machine.server.change(song(1002)) { $0.holdsAfter = nil }
                #expect(try await machine.start(download).result().status == 0)
                expectFiles([1002], machine)
                #expect(machine.server.requests(for: song(1002)).map(\.range) == [nil, nil])
                try await refuse(66, "is done already", "cancel", "1002")
                expectFiles([1002], machine)
            }
        }

        @Test("killed at any moment, it goes on from the last byte on disk, and is listed once")
        func killedOften() async throws {
            try await withListener("halftunes") { machine in
                let command = ["download", "1001", "-o", machine.folder]
                let kills = try ExampleKills(
                    "halftunes", machine, song(1001), to: file(1001, machine), hasDaemon: false)
                var wasListed = false
                while !kills.isOver {
                    try await kills.next(command)
                    let rows = try JSONValue.parse(await machine.run("downloads", "--json").output).elements
                    #expect(rows.count == 1 || (rows.isEmpty && !wasListed), kills.comment)
                    wasListed = wasListed || !rows.isEmpty
                    #expect(!rows.isEmpty || machine.part == 0, kills.comment)
                    guard let row = rows.first else { continue }
                    let (state, bytes) = kills.isThere ? ("done", 320_044) : ("paused", machine.part)
                    #expect(row["trackId"] == .number(1001) && row["file"] == .text(file(1001, machine)), kills.comment)
                    #expect(row["state"] == .text(state) && row["bytes"] == .number(Double(bytes)), kills.comment)
                }
                try await kills.finish(command)
                #expect(try await listed(1001, machine)?["state"] == .text("done"), kills.comment)
            }
        }

        @Test("a second program waits for the first one with the same track")
        func twice() async throws {
            try await withListener("halftunes") { machine in
                machine.server.change(song(1001)) { $0.holdsAfter = 1000 }
                let first = try machine.start(["download", "1001", "1003", "-o", machine.folder])
                try await eventually("the first bytes") { machine.server.bytesSent(for: song(1001)) == 1000 }
                let second = try machine.start(["download", "1003", "1001", "-o", machine.folder])
                #expect(await second.line(of: .errors) { $0.hasSuffix("this one waits") } != nil)
                machine.server.change(song(1001)) { $0.holdsAfter = nil }
                for program in [first, second] {
                    let result = await program.result()
                    #expect(result.status == 0 && result.lines.count == 2, "\(result)")
                }
                expectFiles([1001, 1003], machine)
                #expect(machine.server.requests(for: song(1001)).count == 1)
            }
        }

        @Test("plays what is downloaded with the player that is there, or says in a line that none is")
        func play() async throws {
            try await withListener("halftunes") { machine in
                func refuse(_ status: Int32, _ words: String, _ path: String) async throws {
                    let result = try await machine.start(["play", "1001"], environment: ["PATH": path]).result()
                    expectRefusal(by: "halftunes", result, status, mentioning: words)
                }
                let folder = try machine.makePlayer("mpv")
                try await refuse(66, "'1001' is not there yet", folder)
                #expect(try await machine.run("download", "1001", "-o", machine.folder).status == 0)
                try await refuse(69, "no player is installed", "/nowhere")
                let played = try await machine.start(["play", "1001"], environment: ["PATH": folder]).result()
                #expect(
                    played.status == 3 && played.lines == [folder + "/mpv", "--no-video", "--", file(1001, machine)],
                    "\(played)")
                TemporaryDirectory.remove(file(1001, machine))
                try await refuse(66, "'1001' is not there yet", folder)
                #expect(try await machine.run("downloads", "--json").text == "[\n\n]\n" && machine.daemon == nil)
            }
        }

        @Test("says in one line what it cannot do, and does nothing then")
        func refusals() async throws {
            try await withListener("halftunes") { machine in
                func expect(_ status: Int32, _ words: String, _ arguments: [String]) async throws {
                    expectRefusal(
                        by: "halftunes", try await machine.start(arguments).result(), status, mentioning: words)
                }
                try await expect(66, "no track 7, 8;", ["download", "1001", "7", "8", "-o", machine.folder])
                try await expect(64, "ftp", ["search", "x", "--catalogue", "ftp://example.org"])
                try await expect(69, "127.0.0.1", ["search", "x", "--catalogue", "http://127.0.0.1:1/"])
                try await expect(
                    65, "iTunes Search API", ["search", "x", "--catalogue", machine.server.url + song(1001) + "?"])
                try await expect(66, "/nothing", ["search", "x", "--catalogue", machine.server.url + "/nothing"])
                try LocalFiles.write("", to: machine.folder)
                try await expect(73, machine.folder, ["download", "1001", "-o", machine.folder])
                for arguments in [
                    ["search"], ["search", " "], ["search", "x", "--limit", "0"], ["download"], ["download", "x"],
                    ["download", "0"], ["pause"], ["nothing"],
                ] {
                    let result = try await machine.start(arguments).result()
                    #expect(result.status == 64 && result.output.isEmpty && !result.errors.isEmpty, "\(result)")
                }
                #expect(machine.server.requests(for: song(1001)).count == 1 && machine.daemon == nil)
            }
        }

        @Test("tells of what could not be downloaded, and downloads the rest")
        func partly() async throws {
            try await withListener("halftunes") { machine in
                machine.server.change(song(1002)) { $0.status = 404 }
                let result = try await machine.run("download", "1001", "1002", "-o", machine.folder)
                #expect(result.status == 75 && result.lines == [file(1001, machine)], "\(result)")
                #expect(result.errorText.contains("the server answered 404"), "\(result)")
                #expect(result.errorLines.last?.hasPrefix("halftunes: 1 of 2") == true, "\(result)")
                expectFiles([1001], machine)
                #expect(try await machine.run("download", "1002", "-o", machine.folder).status == 66)
                machine.server.change(song(1002)) { ($0.status, $0.retryAfter, $0.count) = (503, 0, 1) }
                #expect(try await machine.run("download", "1002", "-o", machine.folder).status == 0)
                expectFiles([1001, 1002], machine)
            }
        }

        /// A download as the list has it.
        private func listed(_ id: Int, _ machine: ListenerMachine) async throws -> JSONValue? {
            try JSONValue.parse(await machine.run("downloads", "--json").output).elements
                .last { $0["trackId"] == .number(Double(id)) }
        }
    }
}
