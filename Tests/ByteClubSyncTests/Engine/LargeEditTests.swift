import ByteClubCore
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync

/// Large files are hashed and sent beside the rounds; one run ends in agreement all the same.
@Suite struct LargeEditTests {
    private let server = MemoryRemote()
    private let one: Device
    private let two: Device

    init() throws {
        one = try Device(MemoryRemote(sharing: server, author: 1))
        two = try Device(MemoryRemote(sharing: server, author: 2))
    }

    /// A text too large for a batch.
    private func large(_ name: String) -> String {
        String(repeating: "\(name)\n", count: Int(SyncBatch.maximumInlineBytes) / 4)
    }

    private func begin() async throws {
        one.write("pano.txt", large("first"))
        try await one.sync()
        try await two.sync()
        #expect(two.read("pano.txt") == large("first"))
    }

    @Test("a large file that two members edit is there in both versions after one run")
    func bothEdit() async throws {
        try await begin()
        one.write("pano.txt", large("from one"))
        two.write("pano.txt", large("from two, longer"))
        try await one.sync()
        #expect(try await two.sync().isComplete)
        let texts = Set(two.files().values)
        #expect(texts == [large("from one"), large("from two, longer")])
        try await one.sync()
        #expect(one.files() == two.files())
    }

    @Test("an engine that is stopped ends after its transfers, so that the next one meets none of their writes")
    func stoppedDuringDownload() async throws {
        one.write("pano.txt", large("first"))
        try await one.sync()
        let gate = Gate()
        let ends = Mutex<[String]>([])
        let isUnderWay = Mutex(false)
        two.remote.fault = { operation throws(RemoteError) in
            guard [.download, .content].contains(operation.kind), operation.moment == .before else { return }
            isUnderWay.withLock { $0 = true }
            // Nobody who is cancelled waits less for this.
            await Task.detached { gate.wait() }.value
            ends.withLock { $0.append("transfer") }
        }
        let engine = try two.engine()
        let running = Task {
            try await engine.run()
            ends.withLock { $0.append("engine") }
        }
        try await eventually("a download") { isUnderWay.withLock { $0 } }
        running.cancel()
        // An engine that does not wait has ended by then.
        try await Task.sleep(for: .milliseconds(300))
        gate.open()
        try await running.value
        #expect(ends.withLock { $0.first == "transfer" && $0.last == "engine" })
    }

    @Test("a large file that is edited here and deleted on the server is back there after one run")
    func editedAndDeleted() async throws {
        try await begin()
        one.remove("pano.txt")
        two.write("pano.txt", large("from two, longer"))
        try await one.sync(forcing: true)
        #expect(try await two.sync().isComplete)
        try await one.sync()
        #expect(one.read("pano.txt") == large("from two, longer") && one.files() == two.files())
    }
}
