import ArgumentParser
import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubHTTP

/// Commands while the network is metered.
@Suite struct MeteredCommandTests {
    private let world: World
    private let mirror: String
    private let network = SwitchedNetwork(isMetered: true)

    init() async throws {
        world = try World()
        mirror = world.home.path + "/club"
        try await world.put("hello", "/byteclub/plan.md")
    }

    private func context(_ more: [String: String] = [:], interrupts: Interrupts = .none) -> Context {
        var context = world.context(more, interrupts: interrupts)
        context.network = NetworkCost { [network] in network.states() }
        return context
    }

    private func setSettings(_ text: String) throws {
        try LocalFile.makePrivateDirectory(world.directories.configuration)
        try LocalFile.replace(world.directories.settingsFile, with: Array(text.utf8))
    }

    @Test("a sync with an end does nothing, says so in one line, and can be told to sync all the same")
    func once() async throws {
        try setSettings("metered = wait\n")
        let told = "byteclub: the network is metered; nothing was done, and --no-unmetered-only syncs all the same\n"
        let before = FileTree(world.home.path)
        for words in [["--once"], ["--dry-run"], ["--once", "--unmetered-only"]] {
            #expect(await ByteClub.run(["sync", mirror] + words, in: context()) == .tryAgain)
            #expect(world.err.hasSuffix(told) && world.out.isEmpty, "\(words): \(world.out)\(world.err)")
        }
        #expect(FileTree(world.home.path).difference(from: before).isEmpty)
        #expect(world.connections.isEmpty)
        #expect(await world.run("sync", mirror, "--once", "--json", in: context()) == .tryAgain)
        #expect(
            world.out.contains(#""event":"summary""#) && world.out.contains("the network is metered"), "\(world.out)")

        let use = context(["BYTECLUB_METERED": "use"])
        #expect(await world.run("sync", mirror, "--once", in: use) == .success, "\(world.err)")
        #expect(await world.run("sync", mirror, "--once", "--no-unmetered-only", in: context()) == .success)
        #expect(await world.run("sync", mirror, "--once", in: context()) == .tryAgain)
        network.set(isMetered: false)
        #expect(await world.run("sync", mirror, "--once", in: context()) == .success, "\(world.err)")
        try await eventually("nothing follows the network any more") { network.listeners == 0 }
    }

    @Test("a sync that goes on waits, its status shows what waits, and it goes on at once with another network")
    func running() async throws {
        #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
        try LocalFile.replace(mirror + "/new.md", with: Array("new".utf8))
        let press = Press()
        let (lines, sink) = AsyncStream<String>.makeStream()
        var context = context(interrupts: press.interrupts)
        context.output = Output { sink.yield(String(decoding: $0, as: UTF8.self)) }
        context.diagnostics = context.output
        let (other, arguments) = (context, ["sync", mirror, "--unmetered-only"])
        let sync = Task { await ByteClub.run(arguments, in: other) }
        var told = lines.makeAsyncIterator()
        func wait(for text: String) async { while let line = await told.next(), !line.contains(text) {} }

        await wait(for: "byteclub: paused: the network is metered")
        #expect(await world.run("status") == .success, "\(world.err)")
        #expect(
            world.out.contains("\nwaiting for an unmetered network\nwaiting: 1 file to upload, 3 bytes\n"),
            "\(world.out)")
        #expect(await world.run("status", "--json") == .success)
        #expect(world.out.contains(#""waitsForUnmetered" : true"#), "\(world.out)")
        #expect(await world.run("mirrors") == .success)
        #expect(world.out.contains("waiting for an unmetered network"), "\(world.out)")
        #expect(await world.run("why", mirror + "/plan.md") == .success)
        #expect(try await world.text("/byteclub/new.md") == nil)
        network.set(isMetered: false)
        await wait(for: "uploaded new.md")
        #expect(await world.run("status") == .success)
        #expect(!world.out.contains("waiting"), "\(world.out)")
        press.now(.interrupted)
        #expect(await sync.value == .interrupted)
    }

    @Test("the event of such a pause has its cause for programs, and its words for people")
    func event() throws {
        let event = SyncEvent(.paused, cause: .metered)
        #expect(
            String(decoding: try JSON.line(event), as: UTF8.self) == #"{"cause":"metered","event":"paused"}"# + "\n")
        let style = TextStyle(calendar: { .utc($0) })
        #expect(EventLine.text(event, style) == "paused: the network is metered")
        var activity = MirrorActivity(now: 0)
        activity.take(SyncEvent(.progress, path: "photos/ridge.jpg", bytes: 45, total: 100), now: 0)
        activity.take(event, now: 1)
        #expect(activity.transfers.isEmpty, "what was stopped is not on its way")
        #expect(ActivityLine.text(activity, columns: 80, style) == "waiting for an unmetered network")
        activity.take(SyncEvent(.progress, path: "photos/ridge.jpg", bytes: 50, total: 100), now: 2)
        #expect(activity.phase == .working && activity.transfers.map(\.completed) == [50])
    }

    @Test("background transfers carry the wish, from the flag before the environment before the file")
    func background() async throws {
        try setSettings("metered = wait\n")
        for (words, environment, waits) in [
            ([], [:], true), ([], ["BYTECLUB_METERED": "use"], false), (["--no-unmetered-only"], [:], false),
            (["--unmetered-only"], ["BYTECLUB_METERED": "use"], true),
        ] as [([String], [String: String], Bool)] {
            let options = try TransferOptions.parse(["--background"] + words)
            let recording = try options.recording(context(environment), Settings(), json: false)
            #expect(recording.waitsForUnmetered == waits, "\(words) \(environment)")
        }
        #expect(throws: (any Error).self) { try TransferOptions.parse(["--unmetered-only"]) }
        _ = try TransferOptions.parse(["--no-unmetered-only"])
    }

    @Test("a list shows why a transfer waits, and no time that means nothing")
    func list() throws {
        var status = try Transfers.upload(0xab, "ridge.jpg", .waiting, bytes: 30, of: 40)
        status.obstacle = .metered
        status.nextAttempt = 9_000
        let text = String(decoding: try JSON.line(TransferList([status])), as: UTF8.self)
        #expect(
            text == #"[{"bytes":30,"id":"00000000000000ab","kind":"upload","label":"ridge.jpg","#
                + #""message":"waiting for an unmetered network","obstacle":"metered","rate":0,"state":"waiting","#
                + #""total":40}]"# + "\n")
        let shown = TransferList([status]).text(TextStyle(calendar: { .utc($0) }, columns: 80))
        #expect(shown.hasSuffix(": waiting for an unmetered network") && !shown.contains("retrying"), "\(shown)")
        var wait = TransferWait(for: [status.id])
        _ = wait.take([status])
        #expect(wait.progress(after: 1).name == "waiting for an unmetered network" && !wait.isHeld)
        status.state = .running
        _ = wait.take([status])
        #expect(wait.progress(after: 2).name == "ridge.jpg")
        #expect(TransferObject(status, id: "").obstacle == nil, "only what waits has an obstacle")
    }
}
