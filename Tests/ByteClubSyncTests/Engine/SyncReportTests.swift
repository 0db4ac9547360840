import ByteClubCore
import Testing

@testable import ByteClubSync

@Suite struct SyncReportTests {
    private let item = ItemID(1)

    @Test(
        "a failed call says why the feed must be read, if it must be",
        arguments: [
            (RemoteError.Code.forbidden, FeedDoubt.refused), (.conflict, .refused), (.protocolViolation, .refused),
            (.unreachable, .echoExpected), (.overQuota, nil),
        ] as [(RemoteError.Code, FeedDoubt?)])
    func reasons(code: RemoteError.Code, doubt: FeedDoubt?) throws {
        var report = SyncReport()
        try report.judge(RemoteError(code, "no"), about: [item])
        #expect(report.feedDoubt == doubt && report.isFeedStale == (doubt != nil))
    }

    @Test("the first reason stays")
    func first() {
        var report = SyncReport()
        report.distrustFeed(.unverified)
        report.distrustFeed(.refused)
        #expect(report.feedDoubt == .unverified)
    }

    @Test("a transfer that fails for a while delays its item alone, and asks for an echo only of what was sent")
    func transfers() throws {
        for isSent in [false, true] {
            var report = SyncReport()
            try report.judge(RemoteError(.unreachable, "busy"), ofTransfer: item, isSent: isSent)
            #expect(report.failure == nil && report.results.map(\.item) == [item])
            #expect(report.feedDoubt == (isSent ? .echoExpected : nil))
            report = SyncReport()
            try report.judge(RemoteError(.conflict, "changed"), ofTransfer: item, isSent: isSent)
            #expect(report.failure == nil && report.results.count == 1 && report.feedDoubt == .refused)
        }
    }
}
