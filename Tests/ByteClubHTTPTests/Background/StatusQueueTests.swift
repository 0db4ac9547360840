import Testing

@testable import ByteClubHTTP

@Suite("Queue of background tasks' news")
struct StatusQueueTests {
    private func status(_ state: BackgroundStatus.State, _ id: BackgroundTask.ID, _ sequence: UInt64)
        -> BackgroundStatus
    {
        var status = BackgroundStatus(id, "photos", BackgroundRequest(.custom(kind: "test", payload: [])), at: 0)
        (status.state, status.sequence) = (state, sequence)
        return status
    }

    @Test("an end that a slow reader was not told yet is told when the task is there no more, once")
    func ends() {
        let (done, running, told) = (BackgroundTask.ID.random(), BackgroundTask.ID.random(), BackgroundTask.ID.random())
        var queue = StatusQueue()
        func news() -> [StatusQueue.News] { Array(sequence(state: ()) { _ in queue.next() }) }
        queue.tellAll()
        #expect(news() == [.told])
        _ = queue.take(status(.done, told, 1))
        #expect(news() == [.status(status(.done, told, 1))])
        for (state, id, sequence) in [(.running, done, 2), (.running, running, 3), (.done, done, 4)]
            as [(BackgroundStatus.State, BackgroundTask.ID, UInt64)]
        {
            _ = queue.take(status(state, id, sequence))
        }
        for id in [done, running, told] { queue.removeAfterEnd(id) }
        #expect(queue.latest.isEmpty)
        #expect(news() == [.status(status(.done, done, 4))])
    }
}
