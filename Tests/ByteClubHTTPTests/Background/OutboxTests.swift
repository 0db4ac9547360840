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

    @Test("a slow client gets only the latest event of each task, in the place of the first")
    func latest() throws {
        let (first, second) = (BackgroundTask.ID(number: 1), BackgroundTask.ID(number: 2))
        var outbox = Outbox()
        outbox.add(status(first, bytes: 0), of: first)
        let isAdded = outbox.add(.event(.caughtUp))
        #expect(isAdded)
        for count in 1...100 {
            outbox.add(status(first, bytes: Int64(count)), of: first)
            outbox.add(status(second, bytes: Int64(count)), of: second)
        }
        outbox.add(.gone(second), of: second)
        let expected: [DaemonFrame] = [
            .event(status(first, bytes: 100)), .event(.caughtUp), .event(.gone(second)),
        ]
        let told = try taken(&outbox)
        #expect(told == expected)
        #expect(outbox.isEmpty && outbox.bytes == 0)
        outbox.add(status(first, bytes: 101), of: first)
        let later = try taken(&outbox)
        #expect(later == [.event(status(first, bytes: 101))])
    }

    @Test("a slow client gets a task's end before the task's removal")
    func endAndGone() throws {
        let id = BackgroundTask.ID(number: 1)
        var end = BackgroundStatus(id, "test", BackgroundRequest(.custom(kind: "k", payload: [])), at: 1)
        end.state = .done
        var outbox = Outbox()
        outbox.add(status(id, bytes: 1), of: id)
        outbox.add(.status(end), of: id)
        outbox.add(.gone(id), of: id)
        let told = try taken(&outbox)
        #expect(told == [.event(.status(end)), .event(.gone(id))])
        outbox.add(.status(end), of: id)
        outbox.add(.gone(id), of: id)
        // The task is recorded again.
        outbox.add(status(id, bytes: 2), of: id)
        let anew = try taken(&outbox)
        #expect(anew == [.event(status(id, bytes: 2))] && outbox.isEmpty)
    }

    @Test("frames survive any division of their bytes")
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
