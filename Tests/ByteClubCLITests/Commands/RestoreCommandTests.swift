import ByteClubCore
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct RestoreCommandTests {
    /// A clock that is set by hand.
    private final class Clock: Sendable {
        private let seconds = Mutex<Int64>(1_700_000_000)
        var now: Int64 { seconds.withLock { $0 } }
        func tick() { seconds.withLock { $0 += 1 } }
    }

    private struct History {
        let clock = Clock()
        let server: MemoryRemote
        let world: World

        init() throws {
            let clock = clock
            server = MemoryRemote(now: { APIDate(seconds: clock.now) })
            world = try World()
        }

        var context: Context {
            var context = world.context(remote: server)
            let clock = clock
            context.now = { clock.now }
            return context
        }

        func put(_ text: String, _ path: String) async throws {
            clock.tick()
            _ = try await server.put(
                .bytes(Array(text.utf8)), at: RemotePath("/byteclub/" + path), condition: .overwrite, policy: .fail,
                progress: nil)
        }

        func delete(_ path: String) async throws {
            clock.tick()
            _ = try await server.delete(RemotePath("/byteclub/" + path), ifUnchangedSince: nil)
        }

        func move(_ path: String, _ destination: String) async throws {
            clock.tick()
            _ = try await server.move(RemotePath("/byteclub/" + path), to: RemotePath("/byteclub/" + destination))
        }

        /// The texts of all files by their paths.
        func files() async throws -> [String: String] {
            let root = try RemotePath("/byteclub")
            var files: [String: String] = [:]
            for entry in try await FolderListing(isRecursive: true).entries(of: root, server) ?? [] {
                let content = try await server.content(at: entry.path, revision: nil, range: nil, limit: .max)
                files[entry.path.name(below: root)] = String(decoding: content.bytes, as: UTF8.self)
            }
            return files
        }

        func restore(_ arguments: String...) async -> ByteClubCLI.ExitStatus {
            await ByteClub.run(["restore"] + arguments, in: context)
        }
    }

    private static func time(_ seconds: Int64) -> String { CalendarTime.utc(seconds).rfc3339 }

    @Test("what was changed or removed comes back, what came later is left and told, and the history has it all")
    func restore() async throws {
        let history = try History()
        try await history.put("one", "a.md")
        try await history.put("deep", "Trips/2026/b.md")
        let moment = history.clock.now
        try await history.put("two", "a.md")
        try await history.delete("Trips")
        try await history.put("new", "c.md")
        let before = try await history.files()
        #expect(await history.restore("--at", Self.time(moment), "--dry-run") == .success)
        #expect(
            history.world.out
                == "would restore a.md\nkept c.md, added later\nwould restore Trips/2026/b.md\n"
                + "2 to restore, 1 kept that were added later, 0 unchanged\n")
        #expect(try await history.files() == before)
        #expect(await history.restore("--at", Self.time(moment)) == .success)
        #expect(try await history.files() == ["a.md": "one", "Trips/2026/b.md": "deep", "c.md": "new"])
        #expect(try await history.server.revisions(of: RemotePath("/byteclub/a.md"), limit: 10).count == 3)
        #expect(await history.restore("c.md", "--at", Self.time(moment), "--delete-newer") == .success)
        #expect(try await history.files() == ["a.md": "one", "Trips/2026/b.md": "deep"])
    }

    @Test("one entry or one folder is restored, and the rest is left alone; JSON is one object a line")
    func part() async throws {
        let history = try History()
        try await history.put("1", "Trips/a.md")
        try await history.put("1", "b.md")
        let moment = history.clock.now
        try await history.delete("Trips/a.md")
        try await history.delete("b.md")
        #expect(await history.restore("Trips", "--at", Self.time(moment), "--json") == .success)
        #expect(history.world.out.split(separator: "\n").count == 2 && history.world.out.contains(#""restored":1"#))
        #expect(try await history.files() == ["Trips/a.md": "1"])
        #expect(await history.restore("b.md", "--at", Self.time(moment)) == .success)
        #expect(try await history.files() == ["Trips/a.md": "1", "b.md": "1"])
        #expect(await history.restore("nothing", "--at", Self.time(moment)) == .noInput)
    }

    @Test("after any history every moment of it can be brought back to the byte", arguments: 1...20)
    func anyHistory(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let history = try History()
        let folders = ["", "A/", "B/", "A/C/"]
        var moments: [(time: Int64, files: [String: String])] = []
        for step in 0..<60 {
            let path =
                try #require(folders.randomElement(using: &random)) + "\(Int.random(in: 0..<4, using: &random)).md"
            let other =
                try #require(folders.randomElement(using: &random)) + "\(Int.random(in: 0..<4, using: &random)).md"
            // Operations that are impossible in this state are not part of the history.
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3: try await history.put("text \(step)", path)
            case 4, 5: try? await history.delete(path)
            case 6: try? await history.move(path, other)
            default: try? await history.delete(String(try #require(["A", "B", "A/C"].randomElement(using: &random))))
            }
            if Int.random(in: 0..<10, using: &random) == 0 { try? await history.move("A", "B/D\(step)") }
            moments.append((history.clock.now, try await history.files()))
        }
        for _ in 0..<4 {
            let moment = try #require(moments.randomElement(using: &random))
            history.clock.tick()
            let status = await history.restore("--at", Self.time(moment.time), "--delete-newer")
            #expect(status == .success, "seed \(seed): \(history.world.err)")
            #expect(try await history.files() == moment.files, "seed \(seed), moment \(moment.time)")
        }
    }

    /// The number of moments in the long history to restore.
    private static let moments = unsafe getenv("BYTECLUB_MOMENTS").flatMap { unsafe Int(String(cString: $0)) } ?? 50

    @Test("moments of ten thousand changes come back to the byte, of files with thousands of versions too")
    func longHistory() async throws {
        var random = SeededGenerator(seed: 50)
        let history = try History()
        let folders = ["", "Trips/", "Trips/2026/", "photos/", "Alte Sachen/"]
        // Every other change is one of the same few files.
        let names = (0..<4).map { "\($0).md" } + (0..<300).map { "note \($0).md" }
        func name() throws -> String {
            let name =
                Bool.random(using: &random)
                ? names[..<4].randomElement(using: &random) : names.randomElement(using: &random)
            return try #require(folders.randomElement(using: &random)) + #require(name)
        }
        let marks = Set((0..<Self.moments).map { _ in Int.random(in: 0..<10_000, using: &random) })
        var moments: [(time: Int64, files: [String: String])] = []
        for step in 0..<10_000 {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<80: try await history.put("text \(step)", name())
            case 80..<90: try? await history.delete(name())
            case 90..<99: try? await history.move(name(), name())
            default:
                let folder = try #require(["Trips", "Trips/2026", "photos"].randomElement(using: &random))
                if Bool.random(using: &random) {
                    try? await history.delete(folder)
                } else {
                    try? await history.move(folder, "Alte Sachen/\(step)")
                }
            }
            if marks.contains(step) { moments.append((history.clock.now, try await history.files())) }
        }
        for moment in moments.shuffled(using: &random) {
            history.clock.tick()
            let status = await history.restore("--at", Self.time(moment.time), "--delete-newer")
            #expect(status == .success, "\(history.world.err)")
            #expect(try await history.files() == moment.files, "moment \(moment.time)")
        }
    }

    @Test(
        "a moment is RFC 3339, the local clock's, or so long ago",
        arguments: [
            ("2026-11-22T14:03:00Z", 1_795_356_180), ("2026-11-22T16:03:00+02:00", 1_795_356_180),
            ("2026-11-22 15:03", 1_795_356_180), ("2026-11-22 15:03:20", 1_795_356_200),
            ("2026-11-22", 1_795_302_000), ("2h", 1_799_992_800), ("3d ago", 1_799_740_800),
        ] as [(String, Int64)])
    func moments(_ text: String, _ seconds: Int64) throws {
        var context = try World().context()
        context.now = { 1_800_000_000 }
        // An hour east of Greenwich.
        context.calendar = { CalendarTime.utc($0 + 3600) }
        #expect(try PastMoment.read(text, in: context) == seconds)
    }

    @Test(
        "what is no moment, or is still to come, is one line and code 64, and nothing is sent",
        arguments: [
            "yesterday", "2026-13-01", "2026-02-30", "14:03", "", "2026-11-22T14:03:00+99:00", "2999-01-01", "2x",
        ])
    func noMoments(_ text: String) async throws {
        let world = try World()
        #expect(await world.run("restore", "--at", text) == .usage)
        #expect(world.err.split(separator: "\n").count == 1 && world.out.isEmpty && world.connections.isEmpty)
    }

    @Test("a folder that cannot be read does not stop the others, and the end is 75")
    func someFail() async throws {
        let (history, moment) = try await Self.history(listingAFailsWith: RemoteError(.tooMany, "too many entries"))
        #expect(await history.restore("--at", Self.time(moment)) == .tryAgain)
        history.server.fault = nil
        #expect(history.world.err.contains("'A' was not restored: too many entries"), "\(history.world.err)")
        #expect(try await history.files() == ["b.md": "1"])
    }

    @Test("when the server goes away the sum tells what was restored, and the end is 75")
    func serverGone() async throws {
        let (history, moment) = try await Self.history(listingAFailsWith: RemoteError(.unreachable, "gone"))
        #expect(await history.restore("--at", Self.time(moment)) == .tryAgain)
        #expect(history.world.out == "restored b.md\n1 restored, 0 unchanged\n", "\(history.world.out)")
        #expect(history.world.err == "byteclub: gone; the rest was not restored\n")
        #expect(await history.restore("--at", Self.time(moment)) == .unavailable, "nothing is left to do but that")
    }

    /// Two notes that were removed after a moment, one of them in a folder that the server does not list.
    private static func history(listingAFailsWith error: RemoteError) async throws -> (History, moment: Int64) {
        let history = try History()
        try await history.put("1", "A/a.md")
        try await history.put("1", "b.md")
        let moment = history.clock.now
        try await history.delete("A/a.md")
        try await history.delete("b.md")
        history.server.fault = { operation throws(RemoteError) in
            if operation.kind == .list, operation.path?.name == "A" { throw error }
        }
        return (history, moment)
    }
}
