import Testing

@testable import ByteClubHTTP

@Suite struct OutboxTests {
    private func status(_ id: BackgroundTask.ID, bytes: Int64) -> DaemonEvent {
        var status = BackgroundStatus(id, "test", BackgroundRequest(.custom(kind: "k", payload: [])), at: 1)
        status.bytes = bytes
        return .status(status)
    }

    private func taken(_ outbox: inout Outbox) throws -> [DaemonFrame] {
        var frames = FrameBuffer()
        while let bytes = outbox.next() { frames.append(bytes) }
        var result: [DaemonFrame] = []
        while let frame = try frames.next() { result.append(frame) }
        #expect(frames.isEmpty)
        return result
    }

    @Test("of each task a slow client is told the latest alone, in the place of the first")
    func latest() throws {
        let (first, second) = (BackgroundTask.ID(number: 1), BackgroundTask.ID(number: 2))
        var outbox = Outbox()
        outbox.tell(status(first, bytes: 0), of: first)
        let isAdded = outbox.add(.event(.caughtUp))
        #expect(isAdded)
        for count in 1...100 {
            outbox.tell(status(first, bytes: Int64(count)), of: first)
            outbox.tell(status(second, bytes: Int64(count)), of: second)
        }
        outbox.tell(.gone(second), of: second)
        let expected: [DaemonFrame] = [
            .event(status(first, bytes: 100)), .event(.caughtUp), .event(.gone(second)),
        ]
        let told = try taken(&outbox)
        #expect(told == expected)
        #expect(outbox.isEmpty && outbox.bytes == 0)
        outbox.tell(status(first, bytes: 101), of: first)
        let later = try taken(&outbox)
        #expect(later == [.event(status(first, bytes: 101))])
    }

    @Test("a slow client is told a task's end before it is told that the task is gone")
    func endAndGone() throws {
        let id = BackgroundTask.ID(number: 1)
        var end = BackgroundStatus(id, "test", BackgroundRequest(.custom(kind: "k", payload: [])), at: 1)
        end.state = .done
        var outbox = Outbox()
        outbox.tell(status(id, bytes: 1), of: id)
        outbox.tell(.status(end), of: id)
        outbox.tell(.gone(id), of: id)
        let told = try taken(&outbox)
        #expect(told == [.event(.status(end)), .event(.gone(id))])
        outbox.tell(.status(end), of: id)
        outbox.tell(.gone(id), of: id)
        // Somebody has it recorded anew.
        outbox.tell(status(id, bytes: 2), of: id)
        let anew = try taken(&outbox)
        #expect(anew == [.event(status(id, bytes: 2))] && outbox.isEmpty)
    }

    @Test("frames come out as they went in, wherever their bytes are cut")
    func cuts() throws {
        let frames: [DaemonFrame] = [.call(number: 1, .list), .event(.caughtUp), .answer(number: 9, .done)]
        let bytes = frames.flatMap(\.onWire)
        for cut in 0...bytes.count {
            var buffer = FrameBuffer()
            var result: [DaemonFrame] = []
            for part in [bytes[..<cut], bytes[cut...]] {
                buffer.append(part)
                while let frame = try buffer.next() { result.append(frame) }
            }
            #expect(result == frames)
        }
    }
}
