import ByteClubCore
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite struct FeedIngestTests {
    private let hash = ContentHasher.hash(Array("x".utf8))

    private func entry(_ place: RemoteEntry.Place, isFolder: Bool = false, _ number: Int64) -> FeedChange {
        .upsert(
            RemoteEntry(
                place: place, isFolder: isFolder, hash: isFolder ? nil : hash, size: isFolder ? 0 : 1,
                revision: JournalRevision(number: number).revision, placeRevision: number, modified: nil,
                isExecutable: nil))
    }

    @Test("an entry that is moved or deleted keeps its item, by identities and by paths", arguments: [true, false])
    func bothKinds(hasIdentities: Bool) throws {
        let tree = try MachineScene(usesExtension: hasIdentities).remoteTree()
        let store = tree.context.store
        let feed = FeedIngest(tree, root: .root)
        var report = SyncReport()
        func apply(_ byID: [FeedChange], _ byPath: [FeedChange], isReset: Bool = false) throws {
            let page = FeedPage(
                changes: hasIdentities ? byID : byPath, cursor: "1", hasMore: false, isReset: isReset,
                epoch: hasIdentities ? "e" : nil)
            _ = try feed.apply(page, FeedRecord(), &report)
        }
        try apply(
            [
                entry(.node(EntryID(1), in: .root, name: "A"), isFolder: true, 1),
                entry(.node(EntryID(2), in: EntryID(1), name: "b"), 2),
            ],
            [entry(.path(try RemotePath("/A")), isFolder: true, 1), entry(.path(try RemotePath("/A/b")), 2)],
            isReset: true)
        var item = try #require(try tree.item(at: ["a", "b"]))
        let location = try #require(item.remote?.location)
        item.local = LocalState(location: location, isFolder: false, hash: hash, size: 1)
        try store.save(item)
        try store.edit(durably: false) { editor in _ = try editor.markSynced(item.id) }
        #expect(try store.item(item.id)?.isSettled == true)

        try apply(
            [entry(.node(EntryID(2), in: .root, name: "b"), 3)],
            [.goneFrom(PathKey(folded: "/a/b")), entry(.path(try RemotePath("/b")), 3)])
        #expect(try store.item(item.id)?.remote?.location == Location(.root, EntryName("b")))
        #expect(try tree.item(at: ["a"]) != nil && tree.item(at: ["a", "b"]) == nil)

        try apply(
            [.gone(EntryID(2), JournalRevision(number: 4).revision)], [.goneFrom(PathKey(folded: "/b"))])
        #expect(try store.item(item.id)?.remote == nil && store.item(item.id)?.synced != nil)
        #expect(try store.meta(.cursor) == "1" && !report.isFeedStale)
    }

    @Test("an identity that is no number is followed as well")
    func texts() throws {
        let tree = try MachineScene().remoteTree()
        let feed = FeedIngest(tree, root: EntryID(text: "id:root"))
        var report = SyncReport()
        let changes = [
            entry(.node(EntryID(text: "id:A"), in: EntryID(text: "id:root"), name: "A"), isFolder: true, 1),
            entry(.node(EntryID(text: "id:b"), in: EntryID(text: "id:A"), name: "b"), 2),
        ]
        let page = FeedPage(changes: changes, cursor: "1", hasMore: false, isReset: true, epoch: "e")
        _ = try feed.apply(page, FeedRecord(), &report)
        #expect(try tree.item(at: ["a", "b"])?.remote?.node == EntryID(text: "id:b"))
    }
}
