import ByteClubCore
import Testing

@testable import ByteClubSync

/// What waits for a session while it does something else.
@Suite struct SyncInboxTests {
    @Test("changes of the disk are told as one, very many as anything may have changed, and nothing else is dropped")
    func many() {
        let inbox = SyncInbox()
        let folder = ItemID(7)
        inbox.post(.disk(DiskChange(finished: [folder], closed: [.root: ["a"]])))
        inbox.post(.polled(.changed))
        inbox.post(.disk(DiskChange(closed: [.root: ["b"], folder: ["c"]], begun: [.root])))
        inbox.post(.polled(.failed))
        let few = inbox.drain()
        #expect(few.count == 3)
        guard case .disk(let change)? = few.first, case .polled(.changed) = few[1], case .polled(.failed) = few[2]
        else {
            Issue.record("in another order: \(few)")
            return
        }
        let names = DiskChange(finished: [folder], closed: [.root: ["a", "b"], folder: ["c"]], begun: [.root])
        #expect(change == names)
        for number in 0..<100_000 { inbox.post(.disk(DiskChange(closed: [folder: [EntryName("\(number)")]]))) }
        inbox.post(.disk(DiskChange(isNudge: true)))
        let all = inbox.drain()
        guard case .disk(let change)? = all.first, all.count == 1 else {
            Issue.record("\(all.count) events")
            return
        }
        #expect(change == DiskChange(isLost: true, isNudge: true))
        #expect(inbox.drain().isEmpty)
    }
}
