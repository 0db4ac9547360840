import ByteClubCore
import ByteClubRemotes
import Foundation
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubHTTP

/// The commands about background transfers, with a daemon in this process and a server in memory.
@Suite struct TransferCommandTests {
    private let world: World
    private let context: Context
    private let photo = Fixture.path("panoramas/city.jpg")

    init() throws {
        world = try World()
        var context = world.context()
        // No daemon is started: it runs in this process.
        context.executable = "/nowhere/byteclub"
        self.context = context
        try context.credentials.save(
            Credentials(server: "http://127.0.0.1:1", token: "stored-token", member: "ada"))
    }

    /// Runs a daemon meanwhile.
    private func withDaemon(_ body: () async throws -> Void) async throws {
        var daemon = BackgroundDaemon(try context.transferService())
        var (upload, download) = (PhotoUploadWork(context), PhotoDownloadWork(context))
        upload.open = { [server = world.server] _, _ in server }
        download.open = { [server = world.server] _, _ in server }
        daemon.works = [PhotoUploadOrder.kind: upload, PhotoDownloadOrder.kind: download]
        let running = Task { [daemon] in try await daemon.run() }
        try await eventually("the daemon listens") { LocalFile.exists(daemon.service.socketPath) }
        do {
            try await body()
            running.cancel()
        } catch {
            running.cancel()
            try? await running.value
            throw error
        }
        try await running.value
    }

    private func objects() throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(world.outBytes)) as? [[String: Any]])
    }

    @Test("nothing is started to tell that there is nothing")
    func nothing() async throws {
        for arguments in [["transfers"], ["transfers", "wait"], ["transfers", "pause", "--all"]] {
            #expect(await ByteClub.run(arguments, in: context) == .success, "\(world.err)")
        }
        #expect(await world.run("transfers", "list", "--json", in: context) == .success)
        #expect(world.out == "[\n\n]\n" && world.err.isEmpty, "\(world.out)\(world.err)")
        #expect(await world.run("transfers", "pause", "12345678", in: context) == .noInput)
        #expect(await world.run("daemon", "--stop", in: context) == .success)
        #expect(world.out == "no daemon is running\n")
        #expect(!LocalFile.exists(context.directories.transfers))
    }

    @Test("a photo is recorded once, sent, waited for, listed and forgotten")
    func life() async throws {
        try await withDaemon {
            #expect(await world.run("photos", "upload", "--background", photo, in: context) == .success, "\(world.err)")
            let line = world.out.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
            let id = try #require(line.first?.first)
            #expect(line.count == 1 && line[0].last == "city.jpg" && id.utf8.count == 16, "\(world.out)")
            #expect(world.err == "byteclub: 1 photo is queued; 'byteclub transfers' shows progress\n")
            let short = String(id.prefix(6))
            #expect(await world.run("transfers", "wait", short, in: context) == .success, "\(world.err)")
            let cells = world.out.split(separator: "\n", omittingEmptySubsequences: false).first?
                .split(separator: "\t", omittingEmptySubsequences: false)
            #expect(
                cells == [
                    Substring(id), "upload", "city.jpg", "done", "90163", "90163", "0", "", "/byteclub/photos/city.jpg",
                ])
            #expect(try await world.server.metadata(at: RemotePath("/byteclub/photos/city.jpg")).bytes == 90163)
            #expect(await world.run("transfers", "wait", short, "--progress", "json", in: context) == .success)
            let events = try world.err.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(events.map { $0["event"] as? String } == ["start", "finish", "summary"], "\(world.err)")
            #expect(events[1]["id"] as? String == id && events[1]["path"] as? String == "/byteclub/photos/city.jpg")
            #expect(events[2]["files"] as? Int == 1 && events[2]["bytes"] as? Int == 90163)
            // One that is done is left as it is.
            #expect(await world.run("transfers", "pause", short, in: context) == .success)
            #expect(world.out.isEmpty && world.err == "byteclub: skipped 'city.jpg': it is done\n")
            #expect(await world.run("transfers", "clear", in: context) == .success)
            #expect(world.out == "cleared 1 transfer\n")
            #expect(await world.run("transfers", in: context) == .success)
            #expect(world.out.isEmpty)
        }
    }

    @Test("one that waits can be paused, resumed and cancelled, and is not recorded twice meanwhile")
    func steering() async throws {
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "the server is away") }
        try await withDaemon {
            for _ in 0..<2 {
                let status = await world.run("photos", "upload", "--background", "--json", photo, in: context)
                #expect(status == .success, "\(world.err)")
            }
            #expect(await world.run("transfers", "--json", in: context) == .success)
            let id = try #require(try objects().first?["id"] as? String)
            #expect(try objects().count == 1)
            #expect(await world.run("transfers", "pause", "--all", "--json", in: context) == .success)
            #expect(try objects().first?["state"] as? String == "paused", "\(world.out)")
            // A wait for paused transfers ends.
            #expect(await world.run("transfers", "wait", in: context) == .tryAgain)
            #expect(world.err.contains("'byteclub transfers resume --all'"))
            world.server.fault = nil
            #expect(await world.run("transfers", "resume", String(id.prefix(4)), in: context) == .success)
            #expect(await world.run("transfers", "wait", in: context) == .success, "\(world.err)")

            world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "the server is away") }
            let other = Fixture.path("panoramas/dated.jpg")
            #expect(await world.run("photos", "upload", "--background", other, in: context) == .success)
            #expect(await world.run("transfers", "wait", "--timeout", "1s", in: context.withClock()) == .tryAgain)
            #expect(world.err.contains("timed out"), "\(world.err)")
            #expect(await world.run("transfers", "cancel", "--all", in: context) == .success)
            #expect(await world.run("transfers", "wait", String(id.prefix(8)), in: context) == .success)
            #expect(await world.run("transfers", "--json", in: context) == .success)
            #expect(try objects().map { $0["state"] as? String } == ["done", "failed"], "\(world.out)")
        }
    }

    @Test("a transfer that fails makes a wait end with 75 and says why; a login and a resume mend it")
    func failure() async throws {
        try await withDaemon {
            let folder = world.home.path + "/got"
            try LocalFile.makeDirectory(folder)
            #expect(
                await world.run("photos", "download", "--background", "none.jpg", "-o", folder, in: context)
                    == .success,
                "\(world.err)")
            #expect(await world.run("transfers", "wait", in: context) == .tryAgain)
            #expect(world.err.contains("'none.jpg' was not transferred: no photo named 'none.jpg'"), "\(world.err)")
            _ = try await world.put("now it is there", "/byteclub/photos/none.jpg")
            #expect(await world.run("transfers", "resume", "--all", in: context) == .success)
            #expect(await world.run("transfers", "wait", in: context) == .success, "\(world.err)")
            #expect(try LocalFile.read(folder + "/none.jpg") == Array("now it is there".utf8))
        }
    }

    @Test("to clear one that has failed leaves another one of the same photo alone, and nothing of its own")
    func clear() async throws {
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "the server is away") }
        try await withDaemon {
            var files: [TransferFiles] = []
            for _ in 0..<2 {
                #expect(
                    await world.run("photos", "upload", "--background", "--json", "--quality", "40", photo, in: context)
                        == .success, "\(world.err)")
                let object = try #require(
                    try JSONSerialization.jsonObject(with: Data(world.outBytes)) as? [String: Any])
                let id = try #require(BackgroundTask.ID(object["id"] as? String ?? ""))
                files.append(TransferFiles(id, context))
                try await eventually("the last file is there") { LocalFile.exists(files[files.count - 1].changed) }
                guard files.count == 1 else { continue }
                #expect(await world.run("transfers", "cancel", "--all", in: context) == .success)
                try await eventually("the first file is removed") { !LocalFile.exists(files[0].changed) }
                try LocalFiles.write([1], to: files[0].changed)
            }
            #expect(await world.run("transfers", "clear", in: context) == .success)
            #expect(world.out == "cleared 1 transfer\n")
            try await eventually("the first file is removed") { !LocalFile.exists(files[0].changed) }
            #expect(LocalFile.exists(files[1].changed))
            #expect(await world.run("transfers", "cancel", "--all", in: context) == .success)
        }
    }

    @Test("a link gives the photo its own name, and is one photo by whatever name of the folder")
    func link() async throws {
        let (link, folder) = (world.home.path + "/trip.jpg", world.home.path + "/folder")
        #expect(unsafe symlink(photo, link) == 0 && symlink(world.home.path, folder) == 0)
        try await withDaemon {
            #expect(
                await world.run("photos", "upload", "--background", link, folder + "/trip.jpg", in: context)
                    == .success,
                "\(world.err)")
            #expect(world.out.hasSuffix("\ttrip.jpg\n") && world.out.split(separator: "\n").count == 1, "\(world.out)")
            #expect(await world.run("transfers", "wait", in: context) == .success, "\(world.err)")
            let stored = try await world.server.metadata(at: RemotePath("/byteclub/photos/trip.jpg"))
            #expect(stored.bytes == 90163)
        }
    }

    @Test("more photos than one call takes are all recorded, each with its line, and none twice")
    func many() async throws {
        let orders = try (0..<5).map { number in
            let file = "\(world.home.path)/\(number).jpg"
            try LocalFiles.write(Fixture.bytes("panoramas/city.jpg"), to: file)
            return PhotoUploadOrder(
                server: Transfers.server, folder: "/byteclub/photos", file: file, state: try FileState(of: file),
                change: PhotoChange())
        }
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "the server is away") }
        try await withDaemon {
            for count in [3, 5, 5] {
                try await BackgroundRecording(context: context, rateLimit: nil, json: false, portion: 2)
                    .record(orders.prefix(count).map { .success($0) })
            }
            #expect(world.out.split(separator: "\n").count == 13)
            #expect(await world.run("transfers", "--json", in: context) == .success)
            let listed = try objects()
            #expect(listed.count == 5)
            #expect(await world.run("transfers", "cancel", "--all", in: context) == .success)
        }
    }

    @Test("the list is drawn anew on a terminal that can, with colours or without")
    func live() async throws {
        var context = context
        context.terminal.isOutputTerminal = true
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "the server is away") }
        try await withDaemon {
            #expect(await world.run("photos", "upload", "--background", photo, in: context) == .success)
            for (variable, value, isDrawn) in [("TERM", "dumb", false), ("NO_COLOR", "1", true)] {
                var context = context
                context.environment[variable] = value
                let list = Task { [world] in await world.run("transfers", in: context) }
                if isDrawn {
                    try await eventually("the list is drawn") { world.out.contains("\u{1B}[J") }
                    // With nothing left to wait for it ends.
                    #expect(await ByteClub.run(["transfers", "cancel", "--all"], in: self.context) == .success)
                }
                #expect(await list.value == .success)
                #expect(world.out.contains("\u{1B}[J") == isDrawn, "\(variable)")
            }
        }
    }

    @Test("what cannot be recorded is told at once, and the rest is recorded")
    func refusals() async throws {
        try await withDaemon {
            let bad = world.home.path + "/no.jpg"
            try LocalFiles.write(Array("text".utf8), to: bad)
            let status = await world.run("photos", "upload", "--background", bad, photo, in: context)
            #expect(status == .tryAgain && world.err.contains("is not a JPEG photo"), "\(world.err)")
            #expect(world.out.contains("city.jpg") && !world.out.contains("no.jpg"))
            #expect(
                await world.run("photos", "download", "--background", "a.jpg", "-o", bad, in: context) == .cannotCreate)
            #expect(await world.run("photos", "download", "--background", "a.jpg", "-o", "-", in: context) == .usage)
            _ = try context.credentials.remove()
            #expect(await world.run("photos", "upload", "--background", photo, in: context) == .notAuthorised)
            #expect(world.err.contains("need a stored login"), "\(world.err)")
        }
    }

    @Test("the limits are shown, set anew and kept; one that is none changes nothing")
    func limits() async throws {
        // No daemon is needed to show them.
        #expect(await world.run("transfers", "limit", in: context) == .success, "\(world.err)")
        #expect(world.out == "unlimited\n" && !LocalFile.exists(context.directories.transfers))
        try await withDaemon {
            let most = (Array(repeating: "mon limit 9", count: 99) + ["2M"]).joined(separator: "; ")
            for limit in ["pause", "unlimited", "2M", "sat,sun 18:00-06:30 pause; 2M", most] {
                #expect(await world.run("transfers", "limit", limit, in: context) == .success)
                #expect(world.out == limit + "\n")
            }
            #expect(
                await world.run("transfers", "limit", "mon-fri", "9:00-17:00", "limit", "1.5m;", "2M", in: context)
                    == .success)
            #expect(await world.run("transfers", "limit", "fast", in: context) == .usage)
            #expect(world.err.contains("'fast'"), "\(world.err)")
            #expect(await world.run("transfers", "limit", " ;", in: context) == .usage)
        }
        #expect(await world.run("transfers", "limit", in: context) == .success, "\(world.err)")
        #expect(world.out == "mon-fri 09:00-17:00 1536K; 2M\n")
        #expect(await world.run("transfers", "limit", "--json", in: context) == .success, "\(world.err)")
        let answer = try JSONSerialization.jsonObject(with: Data(world.outBytes)) as? [String: [String]]
        #expect(answer == ["limits": ["mon-fri 09:00-17:00 1536K", "2M"]])
    }

    @Test(
        "limits of which some can never hold, and more than a daemon takes, are refused before one is started",
        arguments: [
            ("2M; mon-fri 09:00-17:00 500K", "no limit after '2M' can apply; put it last"),
            ("sat pause; mon-sun 06:00-06:00 2M; 3M", "no limit after '06:00-06:00 2M' can apply; put it last"),
            (Array(repeating: "mon 2M", count: 101).joined(separator: ";"), "at most 100 parts of the week"),
        ])
    func limitsThatCannotHold(text: String, message: String) async throws {
        #expect(await world.run("transfers", "limit", text, in: context) == .usage)
        #expect(world.err.contains(message) && world.err.split(separator: "\n").count == 1, "\(world.err)")
        #expect(world.out.isEmpty && !LocalFile.exists(context.directories.transfers))
        // A mirror's schedule, which may be of an older version, stays valid.
        _ = try SyncSchedule(parsing: text)
    }

    @Test("a shell is given the IDs of transfers, and starts no daemon for that")
    func completion() async throws {
        let words = [
            "---completion", "transfers", "wait", "--", "positional@0", "3", "0", "byteclub", "transfers", "wait",
        ]
        #expect(await ByteClub.run(words, in: context) == .success)
        #expect(world.out.isEmpty && world.err.isEmpty && !LocalFile.exists(context.directories.transfers))
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "the server is away") }
        try await withDaemon {
            #expect(await world.run("photos", "upload", "--background", photo, in: context) == .success)
            let id = world.out.prefix(8)
            #expect(
                await world.run("---completion", "transfers", "pause", "--", "positional@0", "3", "0", "b", in: context)
                    == .success)
            #expect(world.out == id + "\n")
            #expect(await world.run("transfers", "cancel", "--all", in: context) == .success)
        }
    }

    @Test("no secret is in what is recorded")
    func secrets() async throws {
        try await withDaemon {
            #expect(await world.run("photos", "upload", "--background", photo, in: context) == .success)
            #expect(await world.run("transfers", "wait", in: context) == .success)
            for name in LocalFile.names(in: context.directories.transfers) where !name.hasSuffix(".sock") {
                let path = context.directories.transfers + "/" + name
                if LocalFile.isDirectory(path) { continue }
                let text = String(decoding: try LocalFile.read(path), as: UTF8.self)
                #expect(!text.contains("stored-token") && !text.contains("secret-token"), "\(name)")
            }
        }
    }

    @Test(
        "command lines that make no sense",
        arguments: [
            ["transfers", "pause"], ["transfers", "pause", "--all", "12345678"], ["transfers", "resume"],
            ["transfers", "cancel"], ["transfers", "wait", "--timeout", "soon"], ["transfers", "wait", "xyz"],
            ["daemon", "--install", "--stop"],
        ])
    func usage(_ arguments: [String]) async throws {
        #expect(await ByteClub.run(arguments, in: context) == .usage)
        #expect(world.out.isEmpty && world.err.split(separator: "\n").count == 1, "\(world.err)")
    }
}

extension Context {
    /// The same with a running clock.
    fileprivate func withClock() -> Context {
        var context = self
        let start = ContinuousClock.now
        context.uptime = { ContinuousClock.now - start }
        return context
    }
}
