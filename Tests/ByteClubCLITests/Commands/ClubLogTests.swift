import ByteClubCore
import Foundation
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct ClubLogTests {
    /// A club in which two members have been at work.
    private static func world() async throws -> World {
        let world = try World()
        let other = MemoryRemote(sharing: world.server, author: 2)
        try await world.put("1", "/byteclub/a.md")
        _ = try await other.move(try RemotePath("/byteclub/a.md"), to: try RemotePath("/byteclub/b.md"))
        _ = try await other.createFolder(try RemotePath("/byteclub/Trips"))
        _ = try await world.server.delete(try RemotePath("/byteclub/b.md"), ifUnchangedSince: nil)
        return world
    }

    @Test("who did what comes newest last, separated by tabs in a pipe, with the old path of what was moved")
    func pipe() async throws {
        let world = try await Self.world()
        #expect(await world.run("log", "--club", "--limit", "4") == .success)
        let rows = world.out.split(separator: "\n").map { $0.components(separatedBy: "\t") }
        #expect(
            rows.map { Array($0.dropFirst()) } == [
                ["Member 1", "added", "a.md", ""], ["Member 2", "moved", "b.md", "a.md"],
                ["Member 2", "added", "Trips/", ""], ["Member 1", "removed", "b.md", ""],
            ])
        #expect(rows.allSatisfy { $0.first?.hasSuffix("Z") == true })
        #expect(world.connections.count == 1)
        #expect(await world.run("log", "--club") == .success)
        #expect(world.out.split(separator: "\n").first?.hasSuffix("\tMember 1\tadded\t/byteclub/\t") == true)
    }

    @Test("on a terminal the columns fit, and the path is what is shortened")
    func terminal() throws {
        let entry = FolderEntry(
            path: try RemotePath("/byteclub/" + String(repeating: "n", count: 200) + ".md"), isFolder: false,
            revision: 7, modified: APIDate(seconds: 1_790_000_000), author: 1)
        let log = ClubLog(
            changes: [HistoryChange(entry, .moved, from: try RemotePath("/byteclub/old.md"), by: "Ann\u{1B}[8m")],
            folder: try RemotePath("/byteclub"))
        let lines = log.text(TextStyle(calendar: { CalendarTime.utc($0) }, columns: 80)).split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("TIME"))
        let line = String(lines.last ?? "")
        #expect(DisplayWidth.of(line) <= 80 && line.contains("…") && line.contains("moved  old.md → nn"))
        #expect(!line.contains("\u{1B}"))
    }

    @Test("as JSON each change is an object with who, what and when")
    func json() async throws {
        let world = try await Self.world()
        #expect(await world.run("log", "--club", "--limit", "3", "--json") == .success)
        let told = try #require(JSONSerialization.jsonObject(with: Data(world.outBytes)) as? [[String: Any]])
        #expect(told.map { $0["what"] as? String } == ["moved", "added", "removed"])
        #expect(told.map { $0["author"] as? String } == ["Member 2", "Member 2", "Member 1"])
        #expect(told.map { $0["type"] as? String } == ["file", "folder", "file"])
        #expect(told.first?["from"] as? String == "/byteclub/a.md")
        #expect((told.first?["time"] as? String)?.hasSuffix("Z") == true && told.first?["seq"] is Int)
    }

    @Test("a pager shows the log, and nothing that goes on", .timeLimit(.minutes(1)))
    func pager() async throws {
        let world = try await Self.world()
        let reader = LineReader(lines: 4)
        let (context, file) = reader.context(of: world)
        #expect(await world.run("log", "--club", "--follow", in: context) == .success, "\(world.err)")
        #expect(reader.count >= 4 && !LocalFile.exists(file))
    }

    @Test("following tells what was there with the newest last, then each change once as it happens")
    func follow() async throws {
        let world = try await Self.world()
        let lines = Mutex<[String]>([])
        var context = world.context()
        context.output = Output { bytes in
            let count = lines.withLock { lines in
                lines += String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
                return lines.count
            }
            // The reader closes the pipe.
            if count >= 4 { throw Output.BrokenPipe() }
        }
        let task = Task { [context] in await world.run("log", "--club", "--follow", "--limit", "2", in: context) }
        try await eventually("the last two changes are told") { lines.withLock { $0.count } == 2 }
        let isAway = Mutex(true)
        world.server.fault = { operation throws(RemoteError) in
            guard operation.kind == .history, operation.moment == .before, isAway.withLock({ $0 }) else { return }
            isAway.withLock { $0 = false }
            throw RemoteError(.unreachable, "the server is away")
        }
        try await world.put("2", "/byteclub/c.md")
        try await world.put("3", "/byteclub/c.md")
        #expect(await task.value == .success)
        #expect(!isAway.withLock { $0 })
        #expect(world.err.contains("the server is away; retrying until the server answers"), "\(world.err)")
        let told = lines.withLock { $0 }.map { $0.components(separatedBy: "\t").dropFirst().joined(separator: " ") }
        #expect(
            told == [
                "Member 2 added Trips/ ", "Member 1 removed b.md ", "Member 1 added c.md ", "Member 1 edited c.md ",
            ])
    }
}
