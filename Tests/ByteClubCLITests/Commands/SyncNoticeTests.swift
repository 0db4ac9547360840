import ByteClubCore
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("A notice of what others did")
struct SyncNoticeTests {
    private func added(_ path: String) -> SyncEvent {
        var event = SyncEvent(.download, path: path)
        event.isNew = true
        return event
    }

    @Test("counts by kind, names the first, and leaves out what this machine did")
    func words() {
        var notice = SyncNotice()
        for event in [
            SyncEvent(.upload, path: "mine.md"), SyncEvent(.deleteRemote, path: "gone.md"), SyncEvent(.idle),
            SyncEvent(.moveRemote, path: "b.md", from: "a.md"), SyncEvent(.problem, path: "p.md"),
        ] { notice.add(event) }
        #expect(notice.isEmpty)
        notice.add(added("photos/a.jpg"))
        notice.add(SyncEvent(.download, path: "trip\u{1B}.md"))
        notice.add(SyncEvent(.deleteLocal, path: "old.md"))
        notice.add(SyncEvent(.conflict, path: "plan.md", copy: "plan (ada).md"))
        #expect(notice.words.title == "ByteClub: 1 added, 1 changed, 1 removed, 1 conflict")
        #expect(notice.words.text.hasPrefix("added photos/a.jpg\nchanged trip"))
        #expect(!notice.words.text.contains("\u{1B}") && notice.words.text.hasSuffix("conflict plan.md"))
        for number in 0..<9 { notice.add(added("\(number).md")) }
        #expect(notice.words.title.hasPrefix("ByteClub: 10 added, "))
        #expect(notice.words.text.split(separator: "\n").count == 6 && notice.words.text.hasSuffix("and 8 more"))
    }

    @Test("bundles what comes while it waits: seconds for the first, a minute for the next")
    func bundles() async throws {
        let (shown, showing) = AsyncStream<String>.makeStream()
        let (waits, waiting) = AsyncStream<(Duration, CheckedContinuation<Void, Never>)>.makeStream()
        let notifier = SyncNotifier(Desktop { title, _ in showing.yield(title) }) { duration in
            await withCheckedContinuation { waiting.yield((duration, $0)) }
        }
        var (titles, pauses) = (shown.makeAsyncIterator(), waits.makeAsyncIterator())
        notifier.take(SyncEvent(.upload, path: "mine.md"))
        notifier.take(added("a.md"))
        let first = try #require(await pauses.next())
        notifier.take(added("b.md"))
        first.1.resume()
        #expect(await titles.next() == "ByteClub: 2 added")
        notifier.take(SyncEvent(.deleteLocal, path: "a.md"))
        let second = try #require(await pauses.next())
        #expect(first.0 == .seconds(5) && second.0 == .seconds(60))
        second.1.resume()
        #expect(await titles.next() == "ByteClub: 1 removed")
    }
}
