import ByteClubCore

@testable import ByteClubSync

/// What a store holds, as plainly as it can be said: the model that the random sequences compare stores with.
struct PlainStore {
    var items: [ItemID: Item] = [:]
    var seals: [ItemID: FolderSeal] = [:]
    var meta: [MetaKey: String] = [:]
    var problems: [Problem] = []

    var sorted: [Item] { items.values.sorted { $0.id < $1.id } }

    mutating func save(_ item: Item) {
        items[item.id] = item.isEmpty ? nil : item
        if item.isEmpty { seals[item.id] = nil }
    }

    func children(of folder: ItemID, on side: Side) -> [Item] { sorted.filter { place($0, side)?.parent == folder } }

    func children(of folder: ItemID, key: String, on side: Side) -> [Item] {
        children(of: folder, on: side).filter { place($0, side)?.name.key == key }
    }

    private func place(_ item: Item, _ side: Side) -> Place? { side == .local ? item.local?.place : item.remote?.place }

    func unsettled(after: ItemID?, limit: Int) -> [Item] {
        Array(sorted.filter { item in !item.isSettled && after.map { $0 < item.id } ?? true }.prefix(limit))
    }

    func unseen(before generation: Int64, limit: Int) -> [Item] {
        Array(sorted.filter { $0.remote.map { $0.generation < generation } ?? false }.prefix(limit))
    }

    func synced(after: ItemID?, limit: Int) -> [Item] {
        Array(sorted.filter { item in item.synced != nil && after.map { $0 < item.id } ?? true }.prefix(limit))
    }

    func item(node: NodeID) -> Item? {
        sorted.first { $0.remote?.node == node } ?? sorted.first { $0.remote?.node == nil && $0.lastNode == node }
    }

    func items(handle: FileHandle) -> [Item] { sorted.filter { $0.local?.look?.handle == handle } }

    mutating func setProblem(_ problem: Problem?, path: String) {
        problems.removeAll { $0.path.utf8.elementsEqual(path.utf8) || problem?.item != nil && $0.item == problem?.item }
        if let problem { problems.append(problem) }
        problems.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
