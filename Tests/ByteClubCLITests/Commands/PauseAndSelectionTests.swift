import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubCLI

/// Pausing a mirror and leaving folders out of it.
@Suite struct PauseAndSelectionTests {
    private let world: World
    private let mirror: String

    /// A mirror with a note and a folder, synced once.
    init() async throws {
        world = try World()
        mirror = world.home.path + "/club"
        try await world.put("hello", "/byteclub/plan.md")
        try await world.put("peak", "/byteclub/Trips/alps.md")
        #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
    }

    @Test("a paused mirror is left alone, says so, and goes on when it is resumed")
    func pause() async throws {
        #expect(await world.run("sync", "pause") == .success, "\(world.err)")
        #expect(world.out == "\(mirror) is paused until 'byteclub sync resume'\n")
        try LocalFile.replace(mirror + "/new.md", with: Array("new".utf8))
        #expect(await world.run("sync", "--once") == .tryAgain)
        #expect(world.err.contains("byteclub: paused until 'byteclub sync resume'\n"), "\(world.err)")
        #expect(try await world.text("/byteclub/new.md") == nil)
        #expect(await world.run("sync", "resume", mirror) == .success)
        #expect(world.out == "\(mirror) is resumed; no sync of it is running\n")
        #expect(await world.run("sync", "resume", mirror) == .success)
        #expect(world.out == "\(mirror) was not paused\n")
        #expect(await world.run("sync", "--once") == .success, "\(world.err)")
        #expect(try await world.text("/byteclub/new.md") == "new")
    }

    @Test("a paused mirror tells what waits, as the disk shows it now, and 'why' shows a file that no sync has seen")
    func waiting() async throws {
        #expect(await world.run("sync", "pause") == .success, "\(world.err)")
        #expect(await world.run("status") == .success)
        #expect(world.out.contains("waiting: no known changes"), "\(world.out)")
        try LocalFile.replace(mirror + "/new.md", with: Array("new".utf8))
        try LocalFile.replace(mirror + "/plan.md", with: Array("hello again".utf8))
        #expect(await world.run("status") == .success)
        #expect(world.out.contains("waiting: 2 files to upload, 14 bytes"), "\(world.out)")
        #expect(await world.run("status", "--json") == .success)
        #expect(world.out.contains(#""uploadBytes" : 14"#) && world.out.contains(#""uploads" : 2"#), "\(world.out)")
        #expect(await world.run("why", mirror + "/new.md") == .success)
        #expect(world.out.contains("new.md, 3 bytes"), "\(world.out)")
        #expect(await world.run("sync", "resume") == .success)
        #expect(await world.run("status") == .success)
        #expect(!world.out.contains("waiting: "), "\(world.out)")
    }

    @Test("a pause may end by itself, and JSON tells when")
    func pauseForATime() async throws {
        #expect(await world.run("sync", "pause", "--for", "1h30m", "--json") == .success, "\(world.err)")
        #expect(world.out.contains(#""isPaused" : true"#) && world.out.contains(#""pausedUntil" : "#))
        #expect(await world.run("status") == .success)
        #expect(world.out.contains("paused until "), "\(world.out)")
        #expect(await world.run("sync", "resume", "--json") == .success)
        #expect(world.out.contains(#""wasPaused" : true"#))
    }

    @Test("a sync that goes on obeys a pause, a resume and a selection at once")
    func running() async throws {
        let press = Press()
        let (lines, sink) = AsyncStream<String>.makeStream()
        var context = world.context(interrupts: press.interrupts)
        context.output = Output { sink.yield(String(decoding: $0, as: UTF8.self)) }
        context.diagnostics = context.output
        let (other, arguments) = (context, ["sync", mirror])
        let sync = Task { await ByteClub.run(arguments, in: other) }
        var told = lines.makeAsyncIterator()
        func wait(for text: String) async { while let line = await told.next(), !line.contains(text) {} }

        try LocalFile.replace(mirror + "/first.md", with: Array("1".utf8))
        await wait(for: "uploaded first.md")
        #expect(await world.run("sync", "pause") == .success, "\(world.err)")
        await wait(for: "paused until")
        try LocalFile.replace(mirror + "/second.md", with: Array("2".utf8))
        #expect(await world.run("sync", "resume") == .success, "\(world.err)")
        #expect(world.out == "\(mirror) is resumed\n")
        await wait(for: "uploaded second.md")
        #expect(await world.run("sync", "deselect", "Trips") == .success, "\(world.err)")
        try await eventually("the folder is removed") { !LocalFile.exists(mirror + "/Trips/alps.md") }
        #expect(await world.run("sync", "select", "Trips") == .success, "\(world.err)")
        await wait(for: "downloaded Trips/alps.md")
        press.now(.interrupted)
        #expect(await sync.value == .interrupted)
    }

    @Test("a folder that is left out goes from this disk, stays on the server, and comes back")
    func selection() async throws {
        #expect(await world.run("sync", "selection") == .success)
        #expect(world.out == "no excluded folders\n")
        #expect(await world.run("sync", "deselect", mirror + "/Trips/") == .success, "\(world.err)")
        #expect(
            world.out
                == "Trips/ is excluded from \(mirror) and stays on the server; its local files go to the trash\n")
        #expect(await world.run("sync", "--once") == .success, "\(world.err)")
        #expect(!LocalFile.exists(mirror + "/Trips"))
        #expect(try await world.text("/byteclub/Trips/alps.md") == "peak")
        #expect(await world.run("sync", "selection") == .success)
        #expect(world.out == "Trips/\n")
        #expect(await world.run("sync", "deselect", "trips", "--json") == .success, "\(world.err)")
        #expect(world.out.contains(#""leftOut" : ["#) && world.out.contains(#""Trips""#), "\(world.out)")
        #expect(await world.run("sync", "select", "Trips") == .success, "\(world.err)")
        #expect(world.out == "Trips/ is included in \(mirror)\n")
        #expect(await world.run("sync", "--once") == .success, "\(world.err)")
        #expect(LocalFile.exists(mirror + "/Trips/alps.md"))
    }

    @Test("what is no folder of the mirror is refused in one line, and nothing is changed")
    func refusals() async throws {
        #expect(await world.run("sync", "deselect", "Trips", "nowhere") == .noInput)
        #expect(world.err == "byteclub: no 'nowhere' in the mirror or on the server\n")
        #expect(await world.run("sync", "deselect", "plan.md") == .badData)
        #expect(world.err.contains("'plan.md' is not a folder"))
        #expect(await world.run("sync", "deselect", mirror) == .badData)
        #expect(world.err.contains("is the whole mirror"))
        #expect(await world.run("sync", "deselect", "/elsewhere") == .noInput)
        #expect(world.err.contains("is not in the mirror"))
        #expect(await world.run("sync", "selection") == .success)
        #expect(world.out == "no excluded folders\n")
        try LocalFile.makeDirectory(mirror + "/Trips/deep")
        #expect(await world.run("sync", "--once") == .success, "\(world.err)")
        #expect(await world.run("sync", "deselect", "Trips") == .success)
        #expect(await world.run("sync", "select", "Trips/deep") == .badData)
        #expect(world.err == "byteclub: 'Trips/deep' is in 'Trips', which is excluded; select that folder\n")
    }

    @Test(
        "a mirror that was never synced is code 66",
        arguments: [["pause"], ["resume"], ["selection"], ["deletes", "review"]])
    func unknown(_ words: [String]) async throws {
        let world = try World()
        let directory = world.home.path + "/other"
        #expect(await ByteClub.run(["sync"] + words + [directory], in: world.context()) == .noInput)
        #expect(
            world.err
                == "byteclub: '\(directory)' was never synced; "
                + "sync it first, or name a mirror that 'byteclub mirrors' lists\n"
        )
    }

    @Test(
        "times are read as people type them",
        arguments: [("90s", 90), ("45m", 2_700), ("1h30m", 5_400), ("2d", 172_800), ("1w", 604_800)])
    func times(_ text: String, _ seconds: Int64) {
        #expect(TimeSpan(argument: text)?.seconds == seconds)
    }

    @Test("an option that is no time is refused with what is one")
    func badOption() async throws {
        let world = try World()
        #expect(await world.run("sync", "pause", "--for", "banana") == .usage)
        #expect(world.err.contains("banana") && world.err.contains("1h30m"), "\(world.err)")
        #expect(await world.run("share", "a.md", "--expires", "soon") == .usage)
        #expect(world.err.contains("soon") && world.err.contains("1h30m"), "\(world.err)")
    }

    @Test(
        "what is no time is refused", arguments: ["", "5", "0s", "h", "1.5h", "-1h", "1y", "53w", "9999999999s", "1h "])
    func noTimes(_ text: String) {
        #expect(TimeSpan(argument: text) == nil)
    }
}
