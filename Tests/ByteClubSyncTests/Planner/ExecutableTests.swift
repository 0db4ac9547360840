import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubSync

@Suite("Who may execute a file") struct ExecutableTests {
    private static let location = Location(.root, EntryName("run.sh"))

    private static func item(
        _ mine: Bool?, _ theirs: Bool?, base: Bool?, hash: ContentHash = ContentHasher.hash([1]),
        agreed: ContentHash = ContentHasher.hash([1])
    ) -> Item {
        let stat = FileStat(
            handle: FileHandle(high: 1, low: 1),
            fingerprint: FileFingerprint(device: 1, inode: 1, size: 1, modified: 1, changed: 1), isExecutable: mine)
        let known = ContentHasher.hash([1])
        return Item(
            ItemID(1), local: LocalState(location: location, isFolder: false, hash: hash, size: 1, stat: stat),
            remote: RemoteState(
                location: location, isFolder: false, hash: known, size: 1, revision: .number(1), isExecutable: theirs),
            synced: SyncedState(
                location: location, isFolder: false, hash: agreed, size: 1, revision: .number(1), isExecutable: base))
    }

    @Test(
        "the side that has changed it decides, the server where nobody knows which, and nothing is done unless both know",
        arguments: [
            (true, true, nil, PlannerContent.same), (true, false, false, .upload), (false, true, true, .upload),
            (true, false, true, .download), (false, true, false, .download), (false, true, nil, .download),
            (true, false, nil, .download), (true, nil, false, .same), (nil, true, false, .same),
            (nil, nil, true, .same),
        ] as [(Bool?, Bool?, Bool?, PlannerContent)])
    func decides(mine: Bool?, theirs: Bool?, base: Bool?, content: PlannerContent) {
        let item = Self.item(mine, theirs, base: base)
        #expect(item.intent == .merge(move: nil, content: content))
        #expect(item.isSettled == (content == .same))
    }

    @Test("what both sides have edited alike is agreed on before the bit is sent")
    func editedAlike() {
        let item = Self.item(true, false, base: false, agreed: ContentHasher.hash([2]))
        #expect(item.intent == .merge(move: nil, content: .same))
    }

    @Test("with another content it is told what both sides are to have")
    func told() {
        let edited = ContentHasher.hash([2])
        #expect(Self.item(true, false, base: false, hash: edited).toldExecutable == true)
        #expect(Self.item(false, true, base: false, hash: edited).toldExecutable == true, "the server's change stays")
        #expect(Self.item(true, nil, base: nil, hash: edited).toldExecutable == true)
        #expect(Self.item(false, nil, base: nil, hash: edited).toldExecutable == nil, "it may have got lost on the way")
        var new = Self.item(false, nil, base: nil)
        new.remote = nil
        #expect(new.toldExecutable == false)
    }
}
