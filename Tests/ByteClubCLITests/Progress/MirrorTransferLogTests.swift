import ByteClubCore
import Synchronization
import Testing

@testable import ByteClubCLI

@Suite struct MirrorTransferLogTests {
    private func run(_ display: ProgressMode.Display) throws -> [String] {
        let world = try World()
        let now = Mutex(0.0)
        var context = world.context()
        context.uptime = { .seconds(now.withLock { $0 }) }
        context.now = { 1_375_780_500 }
        let log = MirrorTransferLog(context, display)
        let take = { (event: SyncEvent, seconds: Double) in
            now.withLock { $0 = seconds }
            log.take(event)
        }
        take(SyncEvent(.progress, path: "small.jpg", bytes: 0, total: 9), 0)
        take(SyncEvent(.upload, path: "small.jpg", bytes: 9), 0.5)
        for second in 1...62 {
            take(SyncEvent(.progress, path: "big.jpg", bytes: Int64(second), total: 100), Double(second))
        }
        take(SyncEvent(.upload, path: "big.jpg", bytes: 100), 63)
        take(SyncEvent(.progress, path: "gone.jpg", bytes: 1, total: 9), 63)
        take(SyncEvent(.problem, path: "gone.jpg", message: "it is gone"), 64)
        log.finish()
        return world.err.split(separator: "\n").map(String.init)
    }

    @Test("a log gets a line of a large file after a second and every thirty seconds")
    func log() throws {
        let lines = try run(.log)
        #expect(
            lines.count == 3 && lines.allSatisfy { $0.hasPrefix("big.jpg  ") } && lines[0].contains("  2%")
                && lines[1].contains(" 32%") && lines[2].contains(" 62%"), "\(lines)")
    }

    @Test("events have one start, one end and one summary")
    func events() throws {
        let lines = try run(.events)
        let kinds = lines.compactMap { $0.split(separator: #""event":""#).last?.split(separator: "\"").first }
        #expect(kinds.count { $0 == "start" } == 3 && kinds.count { $0 == "finish" } == 2, "\(kinds)")
        #expect(kinds.count { $0 == "failed" } == 1 && kinds.count { $0 == "progress" } == 61)
        #expect(
            lines.last
                == #"{"bytes":109,"event":"summary","failed":1,"files":2,"time":"2013-08-06T09:15:00Z","version":1}"#)
    }

    @Test("where a terminal shows a line of the sync, and where nothing is to be shown, nothing is written")
    func silent() throws {
        for display in [ProgressMode.Display.live, .none] { #expect(try run(display).isEmpty) }
    }
}
