import ByteClubCore
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync

/// Engines that wait while the network is metered.
@Suite(.serialized) struct MeteredTests {
    private let server = MemoryRemote()
    private let device: Device
    private let log = EventLog()

    init() throws { device = try Device(MemoryRemote(sharing: server, author: 1)) }

    private func engine(_ states: @escaping @Sendable () -> AsyncStream<Bool>) throws -> SyncEngine {
        var configuration = device.configuration
        configuration.networkIsMetered = states
        // With a limit, files of more than a few blocks are transferred by themselves.
        configuration.downloadLimit = 1 << 30
        return try SyncEngine(configuration: configuration, remote: device.remote)
    }

    /// Runs an engine while something is done, with its events in the log.
    private func running(_ engine: SyncEngine, _ work: () async throws -> Void) async throws {
        let events = engine.events
        let logging = Task { [log] in for await event in events { log.add(event) } }
        let running = Task { try await engine.run() }
        do { try await work() } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        try await running.value
        logging.cancel()
    }

    /// The pauses so far.
    private var pauses: [SyncEvent] { log.all.filter { $0.event == .paused } }

    @Test("while the network is metered, no call uses it and both sides wait, and both go on at once after it")
    func waits() async throws {
        let network = SwitchedNetwork(isMetered: true)
        // Calls that began although the engine had said that it waits.
        let isWaiting = Mutex(true)
        let calls = Mutex<[MemoryOperation.Kind]>([])
        device.remote.fault = { operation throws(RemoteError) in
            guard operation.moment == .before, isWaiting.withLock({ $0 }) else { return }
            calls.withLock { $0.append(operation.kind) }
        }
        try await server.write("theirs.md", "1")
        device.write("mine.md", "1")
        try await running(engine { network.states() }) {
            try await eventually("it waits from the start") { pauses.count == 1 }
            #expect(pauses.first == SyncEvent(.paused, cause: .metered))
            try await eventually("its status shows it") {
                let status = try SyncEngine.status(of: device.configuration)
                return status.waitsForUnmetered && status.isRunning && !status.isPaused
            }
            isWaiting.withLock { $0 = false }
            network.set(isMetered: false)
            try await eventually("the first sync") {
                try await server.text("mine.md") == "1" && device.read("theirs.md") == "1"
            }
            #expect(try !SyncEngine.status(of: device.configuration).waitsForUnmetered)

            network.set(isMetered: true)
            try await eventually("it waits again") { pauses.count == 2 }
            isWaiting.withLock { $0 = true }
            try await server.write("theirs.md", "2")
            device.write("mine.md", "2")
            // An engine that does not wait would have done this by then.
            try await Task.sleep(for: .milliseconds(300))
            let seen = (here: device.read("theirs.md"), there: try await server.text("mine.md"))
            #expect(seen.here == "1" && seen.there == "1")
            isWaiting.withLock { $0 = false }
            network.set(isMetered: false)
            try await eventually("the rest") {
                try await server.text("mine.md") == "2" && device.read("theirs.md") == "2"
            }
            // The poll that was cancelled is made again.
            try await server.write("theirs.md", "3")
            try await eventually("a change after it") { device.read("theirs.md") == "3" }
        }
        #expect(calls.withLock { $0 } == [])
        #expect(pauses.count == 2)
        try await eventually("nothing follows the network any more") { network.listeners == 0 }
        #expect(try !SyncEngine.status(of: device.configuration).waitsForUnmetered)
    }

    @Test("a large file under way is stopped, and is there after the next unmetered network")
    func largeFile() async throws {
        let network = SwitchedNetwork(isMetered: false)
        let text = String(repeating: "a line\n", count: Int(SyncBatch.maximumInlineBytes))
        try await server.write("pano.txt", text)
        let stopped = Mutex(0)
        device.remote.fault = { operation throws(RemoteError) in
            guard [.download, .content].contains(operation.kind), operation.moment == .before,
                stopped.withLock({ $0 == 0 })
            else { return }
            network.set(isMetered: true)
            // The transfer lasts until the engine cancels it.
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
            stopped.withLock { $0 += 1 }
        }
        try await running(engine { network.states() }) {
            try await eventually("it waits") { pauses.count == 1 }
            try await eventually("the transfer has ended") { stopped.withLock { $0 == 1 } }
            #expect(!device.exists("pano.txt"))
            network.set(isMetered: false)
            try await eventually("the file is there") { device.read("pano.txt") == text }
        }
        #expect(log.paths(.problem) == [])
    }

    @Test("a large file under way is stopped at once, also while the sync waits because the server has asked it to")
    func largeFileInWait() async throws {
        try await server.write(
            "pano.txt", String(repeating: "a line\n", count: Int(SyncBatch.maximumInlineBytes)))
        let clock = StoppableClock()
        let transfers = Mutex((begun: 0, stopped: 0))
        device.remote.fault = { operation throws(RemoteError) in
            guard operation.moment == .before else { return }
            if operation.kind == .apply {
                // No time passes any more, so this wait has no end.
                clock.stop()
                throw RemoteError(.rateLimited, "too many calls", retryAfter: 30)
            }
            guard [.download, .content].contains(operation.kind) else { return }
            transfers.withLock { $0.begun += 1 }
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
            transfers.withLock { $0.stopped += 1 }
        }
        var configuration = device.configuration
        configuration.downloadLimit = 1 << 30
        let lock = try SyncEngine(configuration: configuration, remote: device.remote).takeLock()
        let inbox = SyncInbox()
        let watcher = try Watcher(nudged: configuration.lockPath) { inbox.post(.disk($0)) }
        defer { watcher.stop() }
        var environment = try SyncEnvironment(configuration)
        environment.clock = clock
        let session = try SyncSession(configuration, device.remote, environment, inbox, watcher: watcher) { [log] in
            log.add($0)
        }
        let running = Task { try await session.run(until: .never) }
        func end() async {
            running.cancel()
            _ = await running.result
            try? await session.close()
            lock.markClean()
        }
        do {
            try await eventually("the transfer has begun") { transfers.withLock { $0.begun == 1 } }
            device.write("mine.md", "1")
            try await eventually("the server asks for a wait") { clock.isStopped }
            #expect(transfers.withLock { $0.stopped == 0 })
            inbox.post(.network(isMetered: true))
            try await eventually("the transfer has ended") { transfers.withLock { $0.stopped == 1 } }
        } catch {
            await end()
            throw error
        }
        // The wait goes on: nothing else has stopped it.
        #expect(pauses.isEmpty)
        await end()
    }

    @Test("a sync with an end changes nothing on a metered network, and says so")
    func once() async throws {
        let network = SwitchedNetwork(isMetered: true)
        try await server.write("theirs.md", "1")
        device.write("mine.md", "1")
        let calls = Calls(of: device.remote)
        let summary = try await engine { network.states() }.runOnce { [log] in log.add($0) }
        #expect(!summary.isComplete && summary.uploaded == 0 && summary.downloaded == 0)
        #expect(log.all.map(\.event) == [.paused, .summary] && log.all.first?.cause == .metered)
        for kind in MemoryOperation.Kind.allCases { #expect(calls[kind] == 0, "\(kind)") }
        #expect(device.files() == ["mine.md": "1"])
        network.set(isMetered: false)
        #expect(try await engine { network.states() }.runOnce { _ in }.isComplete)
        #expect(device.read("theirs.md") == "1")
    }

    @Test("a person's pause counts more than a metered network, which goes on after it")
    func paused() async throws {
        try await device.sync()
        let network = SwitchedNetwork(isMetered: true)
        try await running(engine { network.states() }) {
            try await eventually("it waits") { pauses.count == 1 }
            try SyncEngine.pause(device.configuration, for: nil)
            try await eventually("it is paused") { pauses.count == 2 }
            let status = try SyncEngine.status(of: device.configuration)
            #expect(status.isPaused && !status.waitsForUnmetered)
            try SyncEngine.resume(device.configuration)
            try await eventually("it waits again") { pauses.count == 3 }
        }
        #expect(pauses.map(\.cause) == [.metered, nil, .metered])
    }

    @Test(
        "an engine whose network is never known can be cancelled, and so can one that waits", arguments: [true, false])
    func cancelled(isKnown: Bool) async throws {
        let asked = Mutex(false)
        let engine = try self.engine {
            asked.withLock { $0 = true }
            return AsyncStream { if isKnown { $0.yield(true) } }
        }
        try await running(engine) { try await eventually("it is asked") { asked.withLock { $0 } } }
    }
}

/// The system's clock until a test stops it; after that, no wait ends.
private final class StoppableClock: SyncClock {
    private let clock = MonotonicClock()
    private let end = Mutex<SyncInstant?>(nil)

    var now: SyncInstant { end.withLock { $0 } ?? clock.now }

    var isStopped: Bool { end.withLock { $0 != nil } }

    func stop() {
        let now = clock.now
        end.withLock { $0 = $0 ?? now }
    }

    func sleep(until deadline: SyncInstant) async throws {
        try await clock.sleep(until: deadline)
        while now < deadline { try await Task.sleep(for: .milliseconds(100)) }
    }
}
