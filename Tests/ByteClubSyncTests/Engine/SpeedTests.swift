import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync

/// Figures, printed, without bounds.
@Suite struct SpeedTests {
    @Test("ten thousand notes go up and come down, and then nothing is left to do; prints the rates")
    func manyNotes() async throws {
        let remote = MemoryRemote()
        let one = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        let two = try Device(MemoryRemote(sharing: remote, author: 2), in: FastDisk.path)
        let filler = String(repeating: "lorem ipsum ", count: 125)
        for number in 0..<10_000 { one.write("folder \(number / 100)/note \(number).md", "\(number) \(filler)") }
        let clock = ContinuousClock()
        var summary = SyncSummary()
        let up = try await clock.measure { summary = try await one.sync() }
        #expect(summary.uploaded == 10_000)
        let down = try await clock.measure { summary = try await two.sync() }
        #expect(summary.downloaded == 10_000)
        try await Task.sleep(for: .milliseconds(100))
        try await one.sync()
        let again = try await clock.measure { summary = try await one.sync() }
        #expect(summary.isComplete)
        let rate = { (time: Duration) in Int(10_000 / (time / .seconds(1))) }
        print("10,000 notes: up \(rate(up))/s, down \(rate(down))/s, nothing to do \(again)")
    }
}
