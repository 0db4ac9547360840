import ByteClubCore
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// When large files are transferred, and how fast.
@Suite struct ScheduleTests {
    @Test("the first span that holds decides")
    func firstSpan() throws {
        let schedule = try SyncSchedule(parsing: "mon-fri 09:00-17:00 limit 500k; sat,sun pause\nlimit 2M")
        #expect(schedule.rule(weekday: 0, minute: 9 * 60) == .limit(512_000))
        #expect(schedule.rule(weekday: 4, minute: 17 * 60 - 1) == .limit(512_000))
        #expect(schedule.rule(weekday: 4, minute: 17 * 60) == .limit(2 << 20))
        #expect(schedule.rule(weekday: 5, minute: 0) == .pause && schedule.rule(weekday: 6, minute: 1_439) == .pause)
        #expect(try SyncSchedule(parsing: " ; \n") == SyncSchedule())
        #expect(SyncSchedule().rule(weekday: 0, minute: 0) == nil)
        #expect(try SyncSchedule(parsing: "mon-fri 9:00-17:00 500k; sat,sun pause; 2M") == schedule)
    }

    @Test("a span that ends before it starts goes on into the next day")
    func overMidnight() throws {
        let schedule = try SyncSchedule(parsing: "sun 22:00-06:00 pause")
        #expect(schedule.rule(weekday: 6, minute: 22 * 60) == .pause)
        #expect(schedule.rule(weekday: 0, minute: 6 * 60 - 1) == .pause)
        #expect(schedule.rule(weekday: 0, minute: 6 * 60) == nil && schedule.rule(weekday: 6, minute: 0) == nil)
        let week = try SyncSchedule(parsing: "FRI-mon 00:00-24:00 Unlimited")
        #expect([4, 5, 6, 0].allSatisfy { week.rule(weekday: $0, minute: 1_439) == .unlimited })
        #expect(week.rule(weekday: 1, minute: 0) == nil)
        let day = try SyncSchedule(parsing: "sun 18:00-18:00 pause")
        #expect(day.rule(weekday: 6, minute: 18 * 60) == .pause && day.rule(weekday: 0, minute: 18 * 60 - 1) == .pause)
        #expect(day.rule(weekday: 6, minute: 0) == nil && day.rule(weekday: 0, minute: 18 * 60) == nil)
    }

    @Test(
        "an error names the word that is wrong",
        arguments: [
            ("mon-fry pause", "mon-fry"), ("mon,,tue pause", ""), ("09:00-9 pause", "09:00-9"),
            ("25:00-26:00 pause", "25:00-26:00"), ("24:00-09:00 pause", "24:00-09:00"), ("mon limit", "limit"),
            ("limit fast", "fast"), ("limit pause", "pause"), ("fast", "fast"), ("mon", "mon"), ("2M pause", "pause"),
            ("mon 09:00-17:00", "09:00-17:00"), ("mon 09:00-17:00 stop", "stop"),
            ("pause now", "now"), ("limit -5", "-5"), ("mon-fri 9", "9"), ("9:00-17:00 800", "800"),
            ("mon 09:00-17:00 1.5", "1.5"), ("mon 9 pause", "9"), ("9 pause", "9"), ("800 now", "800"),
        ])
    func errors(text: String, word: String) {
        let error = #expect(throws: SyncError.self) { try SyncSchedule(parsing: "limit 1M; " + text) }
        #expect(error?.code == .configuration)
        #expect(error?.message.hasPrefix("invalid '\(word)' in the schedule") == true, "\(error?.message ?? "")")
    }

    @Test("after days or a time a number without a unit is a rate only when it is said to be one")
    func plainNumbers() throws {
        let rate = { (text: String) in try SyncSchedule(parsing: text).spans.map(\.rule) }
        #expect(try rate("800") == [.limit(800)] && rate("limit 800; 1.5") == [.limit(800), .limit(1)])
        #expect(
            try rate("mon limit 9; 9:00-17:00 limit 9; sun 9k; mon 800/s") == [9, 9, 9_216, 800].map { .limit($0) })
        for text in ["mon 9", "mon 9 pause", "mon 9 17 2M", "9:00-17:00 9", "9 pause"] {
            let error = #expect(throws: SyncError.self) { try SyncSchedule(parsing: text) }
            #expect(error?.message.contains("write a time as 09:00-17:00") == true, "\(text): \(error?.message ?? "")")
        }
        for text in ["800", "mon limit 800", "09:00-17:00 limit 1025", "sun 2M"] {
            #expect(try SyncSchedule(parsing: text).description == text)
        }
    }

    /// A device with a note and two large files, its engine's calls, and the rates at which they were made.
    private final class Scene: Sendable {
        let device: Device
        private let log = RateLog()

        init(_ remote: MemoryRemote, usesExtension: Bool) throws {
            device = try Device(
                MemoryRemote(sharing: remote, author: 1), in: FastDisk.path, usesExtension: usesExtension)
            device.remote.fault = { [log] operation in
                if operation.moment == .before { log.add(operation.kind, TransferRate.limit) }
            }
        }

        func sync(_ change: (inout SyncConfiguration) -> Void) async throws -> SyncSummary {
            var configuration = device.configuration
            change(&configuration)
            let engine = try SyncEngine(configuration: configuration, remote: device.remote)
            return try await engine.runOnce { _ in }
        }

        func rates(_ kinds: Set<MemoryOperation.Kind>) -> Set<Int?> {
            Set(log.all.filter { kinds.contains($0.kind) }.map(\.rate))
        }
    }

    /// Keeps at which rates calls were made.
    private final class RateLog: Sendable {
        private let calls = Mutex<[(kind: MemoryOperation.Kind, rate: Int?)]>([])

        func add(_ kind: MemoryOperation.Kind, _ rate: Int?) { calls.withLock { $0.append((kind, rate)) } }
        var all: [(kind: MemoryOperation.Kind, rate: Int?)] { calls.withLock { $0 } }
    }

    private static func large(_ seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        let block = (0..<4_096).map { _ in UInt8.random(in: 0...255, using: &random) }
        return Array(repeating: block, count: 768).flatMap(\.self)
    }

    @Test("large files travel at the limit that is in force, and notes at none", arguments: [true, false])
    func limits(usesExtension: Bool) async throws {
        let remote = MemoryRemote()
        let one = try Scene(remote, usesExtension: usesExtension)
        one.device.write("note.md", "text")
        for name in ["a.jpg", "b.jpg"] { one.device.write(name, Self.large(UInt64(name.utf8.first ?? 0))) }
        let up = try await one.sync {
            $0.uploadLimit = 9_000_000
            $0.schedule = SyncSchedule([.init(days: Set(0..<7), start: 0, end: 1_440, rule: .limit(8_000_000))])
        }
        #expect(up.uploaded == 3 && up.isComplete)
        if usesExtension {
            #expect(one.rates([.sendUpload]) == [8_000_000] && one.rates([.apply]) == [nil])
        } else {
            #expect(one.rates([.put]) == [8_000_000, nil])
        }
        let two = try Scene(remote, usesExtension: usesExtension)
        let down = try await two.sync { $0.downloadLimit = 7_000_000 }
        #expect(down.downloaded == 3 && down.isComplete)
        #expect(two.rates([.download]) == [7_000_000])
        for name in ["note.md", "a.jpg", "b.jpg"] {
            let bytes = { (device: Device) in Fixture.bytes(at: device.root + "/" + name) }
            #expect(bytes(two.device) == bytes(one.device))
        }
    }

    @Test(
        "large files wait while the schedule says so, notes do not, and a sync says what waits",
        arguments: [true, false])
    func pause(usesExtension: Bool) async throws {
        let remote = MemoryRemote()
        let scene = try Scene(remote, usesExtension: usesExtension)
        scene.device.write("note.md", "text")
        scene.device.write("a.jpg", Self.large(1))
        let first = try await scene.sync { $0.schedule = (try? SyncSchedule(parsing: "pause")) ?? SyncSchedule() }
        #expect(first.uploaded == 1 && first.problems == 1 && !first.isComplete)
        #expect(try await remote.text("note.md") == "text")
        let second = try await scene.sync { _ in }
        #expect(second.uploaded == 1 && second.isComplete)
    }

    // MARK: While something travels

    /// A rule for the minute that begins next on a simulated machine, and the one after.
    private static func nextMinute(_ rule: SyncSchedule.Rule, of disk: SimulatedDisk) -> SyncSchedule {
        let minute = WallClock.localTime(disk.time).minute
        let start = (minute + 1) % 1_440
        return SyncSchedule([.init(days: Set(0..<7), start: start, end: start + 2, rule: rule)])
    }

    private static let minute: Int64 = 60_000_000_000

    @Test("a pause that begins stops a download at once, and what came of it does not come again")
    func pauseBegins() async throws {
        let scene = MachineScene()
        let (disk, network, photo) = (scene.disk, scene.machine.network, noise(400_000, seed: 1))
        disk.hasPaths = true
        _ = try await scene.server.put(
            .bytes(photo), at: RemotePath("/big.jpg"), condition: .create, policy: .fail, progress: nil)
        scene.machine.configuration.schedule = Self.nextMinute(.pause, of: disk)
        network.onPiece = { if network.downloaded < 50_000 { disk.time += Self.minute / 2 } }
        _ = try scene.sync().get()
        #expect(network.downloaded > 0 && network.downloaded < photo.count && disk.content("big.jpg") == nil)
        network.onPiece = {}
        disk.time += 3 * Self.minute
        _ = try scene.sync().get()
        #expect(disk.content("big.jpg") == photo && network.downloaded == photo.count)
    }

    @Test("a limit that begins holds for a download that is under way, and no longer than it is said")
    func limitBegins() async throws {
        let scene = MachineScene()
        let (disk, network, photo) = (scene.disk, scene.machine.network, noise(400_000, seed: 1))
        disk.hasPaths = true
        _ = try await scene.server.put(
            .bytes(photo), at: RemotePath("/big.jpg"), condition: .create, policy: .fail, progress: nil)
        scene.machine.configuration.schedule = Self.nextMinute(.limit(9_000), of: disk)
        network.onPiece = { if [65_536, 196_608].contains(network.downloaded) { disk.time += 2 * Self.minute } }
        _ = try scene.sync().get()
        #expect(network.rates == [nil, 9_000, nil])
        #expect(disk.content("big.jpg") == photo && network.downloaded == photo.count)
    }

    @Test("a pause that begins stops an upload at once, and no chunk goes twice")
    func uploadPauses() async throws {
        let scene = MachineScene()
        let (disk, network, photo) = (scene.disk, scene.machine.network, noise(8 << 20, seed: 1))
        disk.hasPaths = true
        disk.write("big.jpg", photo)
        scene.wait()
        scene.machine.configuration.schedule = Self.nextMinute(.pause, of: disk)
        network.onWrite = { if $0.hasPrefix("piece"), network.rates.count == 2 { disk.time += Self.minute } }
        _ = try scene.sync().get()
        let sent = network.rates.count
        await #expect(throws: RemoteError.self) { try await scene.server.metadata(at: RemotePath("/big.jpg")) }
        disk.time += 3 * Self.minute
        _ = try scene.sync().get()
        #expect(
            try await scene.server.metadata(at: RemotePath("/big.jpg")).contentHash == ContentHasher.hash(photo))
        let pieces = photo.count / SimulatedNetwork.uploadPiece
        #expect(sent < pieces && network.rates.count == pieces)
    }

    @Test("a sync that runs on begins with what waited as soon as the pause is over")
    func pauseEnds() {
        let club = SimulatedClub()
        let (writer, reader) = (club.machines[0], club.machines[1])
        let start = WallClock.localTime(reader.disk.time).minute
        reader.configuration.schedule = SyncSchedule(
            [.init(days: Set(0..<7), start: start, end: start + 2, rule: .pause)])
        let photo = noise(200_000, seed: 1)
        writer.disk.write("big.jpg", photo)
        for machine in club.machines { machine.start() }
        club.pass(.seconds(20))
        #expect(reader.disk.content("big.jpg") == nil)
        club.pass(.seconds(110))
        #expect(reader.disk.content("big.jpg") == photo)
    }
}
