import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// A mirror in which everything is new on disk: a hundred files to a folder, all folders in the root.
struct ManyNewFiles: TreeView {
    private let items: [Item]
    let folders: Int

    /// A mirror with so many files.
    init(_ files: Int) {
        let folders = max(1, files / 100)
        self.folders = folders
        items = (0...(folders + files)).map { index in
            let id = ItemID(Int64(index))
            let isFolder = index <= folders
            let parent = isFolder ? 0 : 1 + index % folders
            let location = Location(ItemID(Int64(parent)), EntryName("entry \(index)"))
            var item = Item(
                id,
                local: LocalState(location: location, isFolder: isFolder, hash: isFolder ? nil : Content(index).hash))
            if index == 0 { item.remote = RemoteState(location: location, isFolder: true) }
            return item
        }
    }

    /// All but the root.
    var ids: [ItemID] { items.dropFirst().map(\.id) }

    /// The entry of that number.
    func item(_ id: ItemID) -> Item? { items.indices.contains(Int(id.number)) ? items[Int(id.number)] : nil }

    /// Nothing is on the server, and nobody asks for what is on disk.
    func children(of folder: ItemID, on side: Side) -> [Item] { [] }

    /// No two entries share a name.
    func children(of folder: ItemID, key: String, on side: Side) -> [Item] { [] }
}

extension PlanCheckCase {
    /// A file whose content both sides changed, with the conflict copy there already on one side.
    static func disputed(copyOn side: Side?) -> (trees: MemoryTrees, item: ItemID) {
        var trees = MemoryTrees()
        let id = trees.newItem()
        let location = Location(.root, EntryName("a"))
        trees[id] = Item(
            id, local: LocalState(location: location, isFolder: false, hash: Content(1).hash),
            remote: RemoteState(location: location, isFolder: false, hash: Content(2).hash, revision: .number(2)),
            synced: SyncedState(location: location, isFolder: false, hash: Content(3).hash, revision: .number(1)))
        guard let side else { return (trees, id) }
        let copy = trees.newItem()
        let beside = Location(
            .root, EntryName(ConflictName.name(for: "a", ConflictStamp(author: "another", time: 86_400))))
        trees[copy] = Item(copy)
        trees[copy] =
            switch side {
            case .local: Item(copy, local: LocalState(location: beside, isFolder: false, hash: Content(1).hash))
            case .remote: Item(copy, remote: RemoteState(location: beside, isFolder: false, hash: Content(1).hash))
            }
        return (trees, id)
    }
}
