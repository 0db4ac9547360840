import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct GatheredOutputTests {
    private final class Writes: Sendable {
        let all = Mutex<[[UInt8]]>([])
        var output: Output { Output { bytes in self.all.withLock { $0.append(bytes) } } }
        var bytes: [UInt8] { all.withLock { $0.flatMap { $0 } } }
    }

    private struct Full: Error {}

    @Test("many lines take few writes and come out whole, in order, and without being asked for")
    func gathers() async throws {
        let writes = Writes()
        let gathered = GatheredOutput(writes.output)
        var expected: [UInt8] = []
        for number in 0..<20_000 {
            let line = Array("line \(number)\n".utf8)
            expected += line
            try gathered.write(line)
        }
        try await eventually("all is written") { writes.bytes.count >= expected.count }
        #expect(writes.bytes == expected)
        #expect(writes.all.withLock { $0.count } < 2_000)
    }

    @Test("what is flushed is there at once, and comes once")
    func flushes() async throws {
        let writes = Writes()
        let gathered = GatheredOutput(writes.output)
        try gathered.write([65])
        try gathered.flush()
        #expect(writes.bytes == [65])
        try await Task.sleep(for: .milliseconds(60))
        try gathered.flush()
        #expect(writes.bytes == [65])
    }

    @Test("a failure is told to whoever writes or flushes next, and nothing is written any more")
    func fails() async throws {
        let attempts = Mutex(0)
        let gathered = GatheredOutput(
            Output { _ in
                attempts.withLock { $0 += 1 }
                throw Full()
            })
        try gathered.write([65])
        try await eventually("one attempt") { attempts.withLock { $0 } > 0 }
        #expect(throws: Full.self) { try gathered.write([66]) }
        #expect(throws: Full.self) { try gathered.flush() }
        #expect(attempts.withLock { $0 } == 1)
    }
}
