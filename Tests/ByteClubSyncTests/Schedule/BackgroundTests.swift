import ByteClubCore
import Testing

@testable import ByteClubSync

/// The states of the work beside a session's steps, and of the transfers.
@Suite struct BackgroundTests {
    private func moment(_ seconds: Int) -> SyncInstant { SyncInstant(sinceStart: .seconds(seconds)) }

    @Test("a poll starts again when its page is applied, and after a failure once the feed was pulled")
    func polls() {
        var polls = PollSchedule()
        #expect(polls.isDue && polls.takePage() == nil)
        polls.started()
        #expect(!polls.isDue)
        let changes = SyncChanges(
            page: SyncPage(isReset: false, cursor: "2", sequence: nil, hasMore: false, entries: []), contents: [])
        polls.answered((changes, "1"))
        #expect(!polls.isDue && polls.hasPage)
        #expect(polls.takePage()?.after == "1" && polls.takePage() == nil && polls.isDue)
        polls.started()
        polls.failed(at: moment(1))
        let pullAt = moment(1) + .milliseconds(500)
        #expect(!polls.isDue && polls.pullAt == pullAt && !polls.takePull(at: moment(1)))
        #expect(polls.takePull(at: pullAt) && polls.isDue && polls.pullAt == nil)
        polls.failed(at: moment(2))
        #expect(polls.pullAt == moment(3), "the second failure in a row waits longer")
        polls.answered()
        #expect(polls.isDue)
        polls.started()
        polls.cancelled()
        #expect(polls.isDue, "a poll that was cancelled is made again")
        polls.answered((changes, "1"))
        polls.cancelled()
        #expect(polls.takePage()?.after == "1", "a page that came before that is kept")
    }

    @Test("an audit that is off never starts, and another one needs a time of its own")
    func audits() {
        var audits = AuditSchedule(isOn: false)
        #expect(!audits.needsTime && !audits.takeStart(at: moment(9)))
        audits = AuditSchedule(isOn: true)
        #expect(audits.needsTime)
        audits = .scheduled(at: moment(3))
        #expect(!audits.needsTime && !audits.takeStart(at: moment(2)) && audits.takeStart(at: moment(3)))
        audits.started()
        #expect(!audits.needsTime && audits.due == nil && audits.takeFile() == nil)
        audits.ended(nil)
        #expect(audits.needsTime)
    }

    @Test("a transfer is under way until its result is handled, and a late result is dropped")
    func transfers() {
        var board = TransferBoard()
        let requests = (1...5).map { TransferRequest(item: ItemID($0), kind: .upload) }
        board.request(requests, slots: 3, until: moment(7))
        #expect(board.items == [ItemID(1), ItemID(2), ItemID(3)] && board.queued == [ItemID(4), ItemID(5)])
        #expect(board.deadline == moment(7))
        #expect(board.takeStarts()?.count == 3 && board.takeStarts() == nil)
        #expect(board.end(ItemID(4), .failed(CancellationError())) == false)
        #expect(board.end(ItemID(1), .failed(CancellationError())) && board.items.contains(ItemID(1)))
        #expect(board.nextWaiting() == nil, "the slot is taken until then")
        #expect(board.takeResult()?.item == ItemID(1) && board.takeResult() == nil)
        #expect(board.nextWaiting() == ItemID(4))
        board.request([requests[3]], slots: 3, until: nil)
        board.dropStarts()
        #expect(board.items == [ItemID(2), ItemID(3)] && board.deadline == nil)
        board.request([requests[3]], slots: 0, until: nil)
        #expect(board.scheduled == [ItemID(4)])
    }
}
