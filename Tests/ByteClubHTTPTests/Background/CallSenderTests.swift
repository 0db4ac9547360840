import Glibc
import TestSupport
import Testing

@testable import ByteClubHTTP

@Suite("Sending calls to a daemon")
struct CallSenderTests {
    /// Two ends of one connection.
    private func pair() throws -> (FrameConnection, FrameConnection) {
        var ends: [Int32] = [-1, -1]
        try #require(
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (FrameConnection(descriptor: ends[0]), FrameConnection(descriptor: ends[1]))
    }

    private func call(_ bytes: Int) -> DaemonCall {
        let request = BackgroundRequest(.custom(kind: "test", payload: [UInt8](repeating: 7, count: bytes)))
        return .submit(identifier: "photos", [Submission(id: .random(), request: request)])
    }

    @Test("calls arrive complete and in order without blocking, though the daemon does not read at first")
    func order() async throws {
        let (near, far) = try pair()
        let tooLong = Log<UInt64>()
        let sender = CallSender(near) { number, _ in tooLong.add(number) }
        // More than the socket's buffer holds; every third call is short and could overtake.
        let calls = (0..<30).map { call($0 % 3 == 2 ? 1 : 1 << 18) }
        for (number, call) in calls.enumerated() {
            sender.add(UInt64(number), call)
            sender.flush()
        }
        sender.add(98, call(DaemonFrame.limit))
        sender.add(99, .list)
        sender.flush()
        let frames = await BackgroundThread.run {
            (0...calls.count).map { _ in try? far.receive() }
        }
        let expected = calls.enumerated().map { DaemonFrame.call(number: UInt64($0), $1) }
        #expect(frames == expected + [.call(number: 99, .list)])
        #expect(tooLong.entries == [98])
    }

    @Test("shutting down the connection ends a send that waits")
    func shutDown() async throws {
        let (near, far) = try pair()
        var sender: CallSender? = CallSender(near) { _, _ in }
        weak let weakSender = sender
        for number in 0..<UInt64(8) { sender?.add(number, call(1 << 20)) }
        sender?.flush()
        sender = nil
        #expect(weakSender != nil, "nothing waits")
        near.shutdown()
        try await eventually("the thread that sends has ended") { weakSender == nil }
        withExtendedLifetime(far) {}
    }

    @Test("calls are repeated on a new connection in their order")
    func again() async throws {
        let daemon = FakeDaemon()
        let client = DaemonClient(daemon.connector)
        try await client.open()
        daemon.decide { _ in .never }
        let calls = (0..<100).map { _ in DaemonCall.change([.random()], .pause) }
        for call in calls { client.post(call) { _ in } }
        await daemon.calls.wait { $0.count == calls.count }
        daemon.decide { _ in .answered }
        daemon.end()
        await daemon.calls.wait { $0.count == 2 * calls.count }
        #expect(daemon.calls.entries == calls + calls)
    }
}
