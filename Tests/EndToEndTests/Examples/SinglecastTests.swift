import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Singlecast", .enabled(if: Wire.usual == .extended, "no mirror, so once is enough"))
    struct SinglecastTests {
        @Test("finds a podcast, subscribes to it, and lists its episodes by numbers that stay")
        func episodes() async throws {
            let ann = try Listener()
            let found = try await ann.run("search", "ferry", "&", "more", "--json")
            #expect(found.status == 0, "\(found)")
            let podcast = try JSONValue.parse(found.output).elements.first
            #expect(podcast?["title"] == .text("Ferry Talk & More") && podcast?["feed"] == .text(ann.feed))
            #expect(try await ann.run("search", "ferry").text.contains(ann.feed))
            expectRefusal(try await ann.run("episodes"), [66], mentioning: "subscribe")

            let subscribed = try await ann.run("subscribe", ann.feed)
            #expect(subscribed.status == 0 && subscribed.errorText.contains("5 episodes"), "\(subscribed)")
            let listed = try await ann.run("episodes", "--json")
            let rows = try JSONValue.parse(listed.output).elements
            #expect(rows.map { $0["number"] } == [1, 2, 3, 4, 5].map { .number($0) }, "\(listed)")
            #expect(rows.map { $0["guid"] } == ["e1", "e2", "e3", "e4", "e5"].map { .text($0) })
            #expect(rows.allSatisfy { $0["state"] == nil })
            #expect(rows[1]["title"] == .text("Fog & <horns>") && rows[1]["date"] == .text("2025-01-13T05:00:00Z"))
            #expect(rows[3]["date"] == .text("2025-01-27T11:00:00Z") && rows[3]["duration"] == .number(61))
            #expect(rows[3]["length"] == .number(61 * 32_000 + 44) && rows[4]["title"] == .text("Home [31m"))
            #expect(ann.server.requests(for: ann.podcast.path).map(\.status) == [200, 304])

            ann.server.publish(.init("e6", "New", date: "Mon, 10 Feb 2025 06:00:00 GMT", seconds: 1), in: 77)
            let more = try await ann.run("episodes")
            #expect(more.lines.count == 6 && more.lines.last?.hasPrefix("6  New (2025-02-10") == true, "\(more)")

            ann.server.setDown(true)
            let offline = try await ann.run("episodes")
            #expect(offline.status == 0 && offline.lines == more.lines && offline.errorLines.count == 1, "\(offline)")
            expectRefusal(try await ann.run("search", "ferry"), [69])
            expectRefusal(try await ann.run("subscribe", ann.feed), [69])
            ann.server.setDown(false)
            expectRefusal(try await ann.run("download", "7", "-o", ann.files), [66], mentioning: "episode 7")
            #expect(try await ann.run("download", "--background").status == 64)
            #expect(try await ann.run("download", "1", "--all").status == 64)
            #expect(ann.machine.daemon == nil)
        }

        @Test("downloads what is asked for, once, also when two programs ask for everything at the same time")
        func once() async throws {
            let ann = try Listener()
            try await ann.subscribe()
            let two = try await ann.run("download", "2", "4", "-o", "music")
            #expect(two.status == 0 && two.lines.count == 2, "\(two)")
            for path in two.lines { #expect(path.hasPrefix(ann.files + "/Fog & -horns- [") && path.hasSuffix("].wav")) }
            #expect(Set(two.lines).count == 2)
            #expect(try await ann.hasFiles(2, 4))
            #expect(try await ann.status()[2]?["state"] == .text("done"))

            // Both find episodes that somebody must download, and episodes that nobody may.
            for number in [1, 3, 5] {
                ann.server.change(ann.podcast.episodes[number - 1].path) { $0.holdsAfter = 1000 }
            }
            let all = ["download", "--all", "-o", ann.files]
            let both = [try ann.start(all), try ann.start(all)]
            try await eventually("all under way") { [1, 3, 5].allSatisfy { !ann.requests($0).isEmpty } }
            let added = try await ann.run("download", "--all", "-o", ann.files + "/elsewhere", "--background")
            #expect(added.status == 0 && added.errorText.contains("episode 1 is on its way"), "\(added)")
            for number in [1, 3, 5] { ann.server.change(ann.podcast.episodes[number - 1].path) { $0.holdsAfter = nil } }
            for program in both {
                let result = await program.result()
                #expect(result.status == 0, "\(result)")
            }
            for number in 1...5 {
                #expect(try await ann.hasFiles(number), "episode \(number)")
                #expect(ann.requests(number).count == 1, "episode \(number)")
            }
            #expect(FileTree.names(in: ann.files)?.count == 5)
            #expect(try await ann.run("download", "--all").errorText.contains("episode 3 is there: "))
            #expect(ann.requests(3).count == 1)
        }

        @Test("downloads in the background, and tells the ends to the program that asks for them, once")
        func background() async throws {
            let ann = try Listener()
            try await ann.subscribe()
            let path = ann.podcast.episodes[0].path
            ann.server.change(path) { $0.holdsAfter = 20_000 }
            ann.server.change(ann.podcast.episodes[1].path) { $0.status = 404 }
            let added = try await ann.run("download", "1", "2", "3", "--background", "-o", ann.files)
            #expect(added.status == 0 && added.lines.isEmpty, "\(added)")
            try await eventually("the others' ends") {
                let status = try await ann.status()
                return status[2]?["state"] == .text("failed") && status[3]?["state"] == .text("done")
                    && status[1]?["state"] == .text("running")
            }
            #expect(try await ann.status()[1]?["total"] == .number(64_044))

            let follower = try ann.start(["download"])
            #expect(await follower.line { $0.contains("Above-below") } != nil)
            #expect(await follower.line(of: .errors) { $0.contains("horns") } != nil)
            follower.send(SIGINT)
            let interrupted = await follower.result()
            #expect(interrupted.status == 130 && interrupted.errorText.contains("go on"), "\(interrupted)")
            ann.server.change(path) { $0.holdsAfter = nil }
            // A program that was stopped may not have taken the end that it told last.
            let followed = try await ann.run("download")
            #expect([0, 75].contains(followed.status) && !followed.lines.isEmpty, "\(followed)")
            #expect(followed.lines.contains { $0.contains("Casting off") }, "\(followed)")
            #expect(try await ann.hasFiles(1))
            #expect(try await ann.status()[2]?["state"] == .text("failed"))
            expectRefusal(try await ann.run("download"), [64], mentioning: "nothing is under way")

            ann.server.change(ann.podcast.episodes[1].path) { $0.status = nil }
            #expect(try await ann.run("download", "--all", "-o", ann.files).lines.count == 3)
            for number in 1...5 { #expect(try await ann.hasFiles(number), "episode \(number)") }
        }

        @Test("goes on where it was when the program and the daemon are killed, and shows at once what is there")
        func kill() async throws {
            let ann = try Listener()
            try await ann.subscribe()
            let path = ann.podcast.episodes[3].path
            ann.server.change(path) { $0.rate = 400_000 }
            let program = try ann.start(["download", "4", "-o", ann.files])
            try await eventually("bytes") { (try await ann.status()[4]?["bytes"]?.number ?? 0) > 0 }
            let daemon = try #require(ann.machine.daemon)
            _ = Glibc.kill(daemon, SIGKILL)
            program.kill9()
            _ = await program.result()

            ann.server.change(path) { $0.holdsAfter = 0 }
            let status = try await ann.status()[4]
            #expect(
                (status?["bytes"]?.number ?? 0) > 0 && status?["total"] == .number(61 * 32_000 + 44), "\(status as Any)"
            )
            // The server says nothing, so all that is told is what is on disk.
            let part = FileTree(ann.files).entries.values.compactMap {
                if case .file(let bytes, _) = $0 { bytes } else { nil }
            }.max()
            #expect(part.map { .number(Double($0)) } == status?["bytes"], "\(status as Any)")
            ann.server.change(path) { ($0.rate, $0.holdsAfter) = (nil, nil) }
            let followed = try await ann.run("download")
            #expect(followed.status == 0 && followed.lines.count == 1, "\(followed)")
            #expect(try await ann.hasFiles(4))
            #expect(ann.requests(4).count == 2 && ann.requests(4).last?.range != nil)
            #expect(FileTree.names(in: ann.files)?.count == 1)
        }

        /// Checks that the podcast is subscribed to once, with each episode once.
        private func expectSubscription(_ ann: Listener, _ comment: Comment) throws {
            let notes = try JSONValue.parse(Fixture.bytes(at: ann.machine.state + "/podcast.json"))
            let episodes = notes["episodes"]?.elements ?? []
            #expect(notes["feed"] == .text(ann.feed), comment)
            #expect(episodes.map { $0["guid"] } == ["e1", "e2", "e3", "e4", "e5"].map { .text($0) }, comment)
            #expect(episodes.map { $0["number"] } == [1, 2, 3, 4, 5].map { .number($0) }, comment)
        }

        @Test("program and daemon are killed at any moment: one subscription, one download, and a status that is true")
        func killedOften() async throws {
            let ann = try Listener()
            let path = ann.podcast.episodes[3].path
            let size = try #require(ann.server.file(path)?.bytes.count)
            let file = ann.files + "/Fog & -horns- [871ad3bc].wav"
            let kills = try ExampleKills("singlecast", ann.machine, path, to: file, hasDaemon: true)
            func kill(_ arguments: [String]) async throws {
                let process = try ann.start(arguments)
                try await Task.sleep(for: kills.time())
                process.kill9()
                _ = await process.result()
            }

            for _ in 0..<max(ExampleKills.count / 4, 3) {
                try await kill(["subscribe", ann.feed])
                if LocalFiles.exists(ann.machine.state + "/podcast.json") { try expectSubscription(ann, kills.comment) }
            }
            try await ann.subscribe()
            try expectSubscription(ann, kills.comment)

            let command = ["download", "4", "-o", ann.files]
            while !kills.isOver {
                try await kills.next(command)
                try expectSubscription(ann, kills.comment)
                let tasks = FileTree.names(in: ann.machine.state + "/transfers") ?? []
                #expect(tasks.count { $0.hasSuffix(".task") } <= 1, "\(kills.comment): \(tasks)")
                // This starts the daemon again, which gets no byte.
                try await eventually("the true status of \(kills.comment)") {
                    let rows = try JSONValue.parse(await ann.run("status", "--json").output).elements
                    let (isThere, part) = (kills.isThere, ann.machine.part)
                    guard let row = rows.first else { return !isThere && part == 0 }
                    let states = isThere ? ["done"] : ["waiting", "running"]
                    return rows.count == 1 && row["number"] == .number(4) && row["file"] == .text(file)
                        && states.contains(row["state"]?.text ?? "")
                        && row["bytes"] == .number(Double(isThere ? size : part))
                }
                let others = [["status"], ["episodes"], ["subscribe", ann.feed]]
                try await kill(others.randomElement(using: &kills.generator) ?? [])
                try expectSubscription(ann, kills.comment)
                kills.perhapsKillDaemon()
            }
            try await kills.finish(command)
            #expect(try await ann.hasFiles(4), kills.comment)
            #expect(try await ann.status().count == 1, kills.comment)
            expectRefusal(try await ann.run("download"), [64], mentioning: "nothing is under way")
        }

        @Test("subscribes to a podcast of the last search by its number")
        func numbers() async throws {
            let ann = try Listener()
            expectRefusal(try await ann.run("subscribe", "1"), [66], mentioning: "the last search has no podcast 1")
            let found = try await ann.run("search", "ferry")
            #expect(found.lines.first == "1  Ferry Talk & More, by Ann <Harbour>", "\(found)")
            for number in ["0", "2", "-- -1", "99999999999"] {
                let words = number.split(separator: " ").map(String.init)
                expectRefusal(try await ann.start(["subscribe"] + words).result(), [66], mentioning: "no podcast")
            }
            let subscribed = try await ann.run("subscribe", "1")
            #expect(subscribed.status == 0 && subscribed.errorText.contains("5 episodes"), "\(subscribed)")
            // The numbers are of the last search, also of one that found nothing.
            #expect(try await ann.run("search", "nothing").status == 0)
            expectRefusal(try await ann.run("subscribe", "1"), [66])
        }

        @Test("searches as one types at a terminal, and Return subscribes")
        func choosing() async throws {
            let ann = try Listener()
            expectRefusal(try await ann.run("search"), [64], mentioning: "say what to search for")
            let session = try ann.machine.startAtTerminal(["search"])
            try await eventually("the question") { session.text.contains("Search: _") }
            session.type(Array("fe".utf8))
            try await eventually("the podcast") { session.text.contains("> Ferry Talk & More, by Ann <Harbour>") }
            #expect(session.text.contains("Return subscribes"))
            session.type([13])
            try await eventually("the end") { session.status != nil }
            #expect(session.status == 0 && session.hasModesOfBefore, "\(session.text)")
            #expect(session.text.contains("subscribed to Ferry Talk & More, with 5 episodes"), "\(session.text)")
            #expect(try await ann.run("episodes").lines.count == 5)
        }

        @Test("an empty SINGLECAST_CATALOGUE is none, and each exit code is in the help")
        func surroundings() async throws {
            // Through a proxy that is not there, the default catalogue is not reached either.
            let proxies = ["https_proxy": "http://127.0.0.1:1", "no_proxy": "", "NO_PROXY": ""]
            for program in ["halftunes", "singlecast"] {
                try await withListener(program) { machine in
                    let environment = proxies.merging(["\(program.uppercased())_CATALOGUE": ""]) { $1 }
                    let search = try machine.start(["search", "ferry"], environment: environment)
                    expectRefusal(by: program, await search.result(), 69, mentioning: "127.0.0.1")
                    let help = try await machine.run("--help")
                    let words = help.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    #expect(help.status == 0 && words.contains("130 Ctrl-C, 143 SIGTERM."), "\(help)")
                }
            }
        }

        @Test("plays an episode with the player that is there, or says in a line that none is")
        func play() async throws {
            let ann = try Listener()
            try await ann.subscribe()
            expectRefusal(try await ann.run("play", "1"), [66], mentioning: "singlecast download 1")
            expectRefusal(try await ann.run("play", "7"), [66], mentioning: "no episode 7")
            #expect(try await ann.run("download", "1", "-o", ann.files).status == 0)
            let file = try #require(try await ann.status()[1]?["file"]?.text)
            func play(_ environment: [String: String]) async throws -> ProgramResult {
                try await ann.machine.start(["play", "1"], environment: environment).result()
            }
            expectRefusal(try await play(["PATH": "/nowhere"]), [69], mentioning: "no player is installed")
            let folder = try ann.machine.makePlayer("aplay")
            let usual = try await play(["PATH": folder])
            #expect(usual.status == 3 && usual.lines == [folder + "/aplay", "-q", file], "\(usual)")
            let chosen = try await play(["PATH": "/nowhere", "SINGLECAST_PLAYER": folder + "/aplay"])
            #expect(chosen.status == 3 && chosen.lines == [folder + "/aplay", file], "\(chosen)")
            let missing = try await play(["PATH": folder, "SINGLECAST_PLAYER": "nothing"])
            expectRefusal(missing, [69], mentioning: "no program")
            TemporaryDirectory.remove(file)
            expectRefusal(try await play(["PATH": folder]), [66])
        }

        @Test("pauses, resumes and cancels")
        func changes() async throws {
            let ann = try Listener()
            try await ann.subscribe()
            for episode in ann.podcast.episodes { ann.server.change(episode.path) { $0.holdsAfter = 1000 } }
            #expect(try await ann.run("download", "1", "2", "--background", "-o", ann.files).status == 0)
            #expect(try await ann.run("pause", "1").status == 0)
            #expect(try await ann.status()[1]?["state"] == .text("paused"))
            expectRefusal(try await ann.run("pause", "2", "3"), [66], mentioning: "episode 3")
            #expect(try await ann.status()[2]?["state"] != .text("paused"))
            #expect(try await ann.run("cancel", "2").status == 0)
            #expect(try await ann.status()[2]?["state"] == .text("failed"))
            for episode in ann.podcast.episodes { ann.server.change(episode.path) { $0.holdsAfter = nil } }
            #expect(try await ann.run("resume", "1").status == 0)
            try await eventually("the file") { try await ann.status()[1]?["state"] == .text("done") }
            #expect(try await ann.run("download", "2", "-o", ann.files).status == 0)
            #expect(try await ann.hasFiles(1, 2))
            #expect(FileTree.names(in: ann.files)?.count == 2)
        }

        @Test("judges the episodes that were asked for: neither paused ones nor refused ones keep others back")
        func chosen() async throws {
            let ann = try Listener()
            let audio = ann.server.url + ann.podcast.episodes[0].path
            let titles = ["Held", "Long", "Up/\u{301}down", String(repeating: "\u{F6}", count: 600)]
            let addresses = [
                ann.server.url + ann.podcast.episodes[1].path, audio + "?" + String(repeating: "x", count: 1_100_000),
                audio, audio,
            ]
            let items = zip(titles, addresses).enumerated().map { index, item in
                """
                <item><title>\(item.0)</title><guid>g\(index)</guid>
                <enclosure url="\(item.1)" length="12" type="audio/mpeg"/>
                <pubDate>Mon, 0\(index + 1) Jan 2024 06:00:00 GMT</pubDate></item>
                """
            }
            let feed = "<rss><channel><title>Odd</title>\(items.reversed().joined())</channel></rss>"
            ann.server.replace("/odd.xml", by: Array(feed.utf8))
            #expect(try await ann.run("subscribe", ann.server.url + "/odd.xml").status == 0)
            ann.server.change(ann.podcast.episodes[1].path) { $0.holdsAfter = 1000 }
            #expect(try await ann.run("download", "1", "--background", "-o", ann.files).status == 0)
            #expect(try await ann.run("pause", "1").status == 0)
            let third = try await ann.run("download", "3", "-o", ann.files)
            #expect(third.status == 0 && third.lines.count == 1, "\(third)")
            #expect(third.lines.first?.hasPrefix(ann.files + "/Up-\u{301}down [") == true, "\(third)")
            ann.server.change(ann.podcast.episodes[1].path) { $0.holdsAfter = nil }
            let all = try await ann.run("download", "--all", "-o", ann.files)
            #expect(all.status == 75 && all.lines.count == 2 && all.errorText.contains("episode 2 cannot"), "\(all)")
            #expect(try await ann.status()[2]?["state"] == .text("failed"))
            #expect(FileTree.names(in: ann.files)?.count == 3)
            let background = try await ann.run("download", "2", "--background", "-o", ann.files)
            #expect(background.status == 75, "\(background)")
        }

        @Test("refuses what is no feed, whatever its bytes are, and keeps what there was")
        func damagedFeeds() async throws {
            let ann = try Listener()
            try await ann.subscribe()
            let kept = Fixture.bytes(at: ann.machine.state + "/podcast.json")
            let head = "<rss><channel><title>A</title>"
            let bad: [(String, String)] = [
                ("", "no element"), ("<html><body>404</body></html>", "<html>"), (head, "still open"),
                (String(repeating: "<rss>", count: 5000), "100 elements"), (head + "<item></channel></rss>", "line 1"),
                ("<!DOCTYPE r [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]><rss>&b;</rss>", "document type"),
                ("<!DOCTYPE r [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><rss>&a;</rss>", "document type"),
                ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><rss/>", "UTF-8"), (head + "&nbsp;", "no character"),
                (head + "\n\n<![CDATA[", "line 3"), ("<rss a='1' a='2'/>", "attributes"),
            ]
            for (text, words) in bad {
                ann.server.replace("/bad.xml", by: Array(text.utf8))
                expectRefusal(try await ann.run("subscribe", ann.server.url + "/bad.xml"), [65], mentioning: words)
            }
            #expect(Fixture.bytes(at: ann.machine.state + "/podcast.json") == kept)

            let feed = Array(
                """
                <?xml version="1.0"?><rss xmlns:itunes="x"><channel><title>A &amp; &#66;</title><item><title><![CDATA[T]]>
                </title><guid>g</guid><enclosure url="http://127.0.0.1:1/a.mp3?b=1&amp;c=2" length='12' type="audio/mpeg"/>
                <pubDate>Mon, 06 Jan 2025 06:00:00 GMT</pubDate><itunes:duration>1:02:03</itunes:duration></item></channel></rss>
                """.utf8)
            let seed = UInt64.random(in: 1...UInt64.max)
            var generator = SeededGenerator(seed: seed)
            for round in 0..<40 {
                var bytes = feed
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let start = Int.random(in: 0..<bytes.count, using: &generator)
                    let end = min(start + Int.random(in: 1...20, using: &generator), bytes.count)
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: bytes[start] = UInt8.random(in: 0...255, using: &generator)
                    case 1: bytes.removeSubrange(start..<end)
                    case 2: bytes.insert(contentsOf: bytes[start..<end], at: start)
                    default:
                        bytes.insert(contentsOf: Array("<&]\"'/>\0\u{FEFF}".utf8).shuffled(using: &generator), at: end)
                    }
                    if bytes.isEmpty { break }
                }
                ann.server.replace("/random.xml", by: bytes)
                let result = try await ann.run("subscribe", ann.server.url + "/random.xml")
                #expect([0, 65].contains(result.status), "seed \(seed), round \(round): \(result)")
                if result.status == 65 { expectRefusal(result, [65]) }
            }
            let back = try await ann.run("subscribe", ann.feed)
            #expect(back.status == 0 && back.errorText.contains("5 episodes"), "\(back)")
        }

        @Test("says that its notes are damaged, and finds what was downloaded without them")
        func damagedNotes() async throws {
            let ann = try Listener()
            try await ann.subscribe()
            #expect(try await ann.run("download", "1", "2", "-o", ann.files).status == 0)
            let notes = ann.machine.state + "/podcast.json"
            let whole = Fixture.bytes(at: notes)
            let text = String(decoding: whole, as: UTF8.self)
            let damaged = [
                [], Array(whole.dropLast(2)), Array("[]".utf8),
                Array(text.replacing("\"number\" : 2", with: "\"number\" : 1").utf8),
                Array(text.replacing("\"number\" : 5", with: "\"number\" : \(Int.max)").utf8),
            ]
            for bytes in damaged {
                try LocalFiles.write(bytes, to: notes)
                for command in [["episodes"], ["status"], ["download", "1"], ["subscribe", ann.feed]] {
                    expectRefusal(try await ann.start(command).result(), [65], mentioning: "damaged")
                }
                #expect(Fixture.bytes(at: notes) == bytes)
            }
            unsafe unlink(notes)
            try await ann.subscribe()
            #expect(try await ann.run("download", "1", "2", "-o", ann.files).status == 0)
            #expect(try await ann.hasFiles(1, 2))
            #expect(ann.requests(1).count == 1 && ann.requests(2).count == 1)
        }
    }
}
