import ByteClubCore

@testable import ByteClubSync

/// What a store holds, as plainly as it can be said: the model that the random sequences compare stores with.
struct PlainStore {
    var items: [ItemID: Item] = [:]
    var listings: [ItemID: KnownListing] = [:]
    var meta: [MetaKey: String] = [:]
    var problems: [ProblemRecord] = []

    var sorted: [Item] { items.values.sorted { $0.id < $1.id } }

    mutating func save(_ item: Item) {
        items[item.id] = item.isEmpty ? nil : item
        if item.isEmpty { listings[item.id] = nil }
    }

    func children(of folder: ItemID, on side: Side) -> [Item] { sorted.filter { location($0, side)?.parent == folder } }

    func children(of folder: ItemID, key: String, on side: Side) -> [Item] {
        children(of: folder, on: side).filter { location($0, side)?.name.key == key }
    }

    private func location(_ item: Item, _ side: Side) -> Location? {
        side == .local ? item.local?.location : item.remote?.location
    }

    func unsettled(after: ItemID?, limit: Int) -> [Item] {
        Array(sorted.filter { item in !item.isSettled && after.map { $0 < item.id } ?? true }.prefix(limit))
    }

    func unseen(before generation: Int64, limit: Int) -> [Item] {
        Array(sorted.filter { $0.remote.map { $0.generation < generation } ?? false }.prefix(limit))
    }

    func synced(after: ItemID?, limit: Int) -> [Item] {
        Array(sorted.filter { item in item.synced != nil && after.map { $0 < item.id } ?? true }.prefix(limit))
    }

    func item(node: EntryID) -> Item? {
        sorted.first { $0.remote?.node == node } ?? sorted.first { $0.remote?.node == nil && $0.lastNode == node }
    }

    func items(handle: FileHandle) -> [Item] { sorted.filter { $0.local?.stat?.handle == handle } }

    mutating func setProblem(_ problem: ProblemRecord?, path: String) {
        problems.removeAll { $0.path.utf8.elementsEqual(path.utf8) || problem?.item != nil && $0.item == problem?.item }
        if let problem { problems.append(problem) }
        problems.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
