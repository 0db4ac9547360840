import ByteClubCore
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

    private func folder(_ store: MemoryTreeStore, _ name: String, in parent: ItemID) -> Item {
        let item = Item(
            store.newItem(), local: LocalState(location: Location(parent, EntryName(name)), isFolder: true))
        store.save(item)
        return item
    }

    @Test("a folder that a scan finds inside itself is an error, and nothing is changed")
    func cycle() throws {
        let store = MemoryTreeStore()
        let outer = folder(store, "a", in: .root)
        let inner = folder(store, "b", in: outer.id)
        var local = try #require(outer.local)
        local.location = Location(inner.id, EntryName("a"))
        #expect(throws: SyncError.self) {
            try store.edit(durably: false) { editor in
                _ = try editor.observeLocal(outer, as: local, isFrozen: false)
            }
        }
        #expect(store.item(outer.id) == outer && store.item(inner.id) == inner)
    }

    @Test("an entry that a scan finds in no folder is an error")
    func orphan() {
        let store = MemoryTreeStore()
        let local = LocalState(location: Location(ItemID(9), EntryName("a")), isFolder: false)
        #expect(throws: SyncError.self) {
            try store.edit(durably: false) { editor in try editor.found(ItemID(1), local) }
        }
        #expect(store.item(ItemID(1)) == nil)
    }

    @Test("a folder that was found elsewhere keeps its item, with the contents that were found in it")
    func relocated() throws {
        let store = MemoryTreeStore()
        let old = folder(store, "a", in: .root)
        let new = folder(store, "b", in: .root)
        let inner = folder(store, "c", in: new.id)
        let local = try #require(new.local)
        try store.edit(durably: false) { editor in try editor.relocated(old.id, to: new.id, as: local) }
        #expect(store.item(old.id)?.local == local && store.item(new.id) == nil)
        #expect(store.item(inner.id)?.local?.location.parent == old.id)
    }
}
