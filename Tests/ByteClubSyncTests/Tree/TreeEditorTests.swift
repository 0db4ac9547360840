import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite struct TreeEditorTests {
    @Test("what is known of a folder does not hold for the one that is made in its place")
    func madeFolder() throws {
        let disk = SimulatedDisk()
        disk.makeFolder("p")
        let stat = try #require(try disk.openRoot().entry("p")?.stat)
        let store = MemoryTreeStore()
        let location = Location(.root, EntryName("p"))
        let folder = store.newItem()
        try store.transaction(durably: false) {
            store.save(Item(folder, remote: RemoteState(location: location, isFolder: true)))
            store.setListing(KnownListing(high: 1, low: 2, folders: []), of: folder)
        }
        try store.edit(durably: false) { editor in try editor.madeFolder(folder, at: location, stat) }
        #expect(store.item(folder)?.isSettled == true && store.listing(of: folder) == nil)
    }
}
