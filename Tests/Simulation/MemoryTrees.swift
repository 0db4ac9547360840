import ByteClubCore

@testable import ByteClubSync

/// Three trees in memory, as a value: a copy costs nothing until one of the two changes.
///
/// Items lie in the order of their numbers, and a folder's children are found by looking at all of them: trees in
/// simulations are small.
struct MemoryTrees: TreeView, Hashable, Sendable {
    private var slots: [Item?]

    /// A mirror without entries.
    init() {
        let location = Location(.root, EntryName("", key: ""))
        let root = Item(
            .root, local: LocalState(location: location, isFolder: true),
            remote: RemoteState(location: location, isFolder: true),
            synced: SyncedState(location: location, isFolder: true))
        slots = [root]
    }

    /// The item of that identity; an empty one is forgotten.
    subscript(id: ItemID) -> Item? {
        get { slots.indices.contains(Int(id.number)) ? slots[Int(id.number)] : nil }
        set {
            reserve(upTo: id)
            slots[Int(id.number)] = newValue?.isEmpty == true ? nil : newValue
        }
    }

    /// Changes an item where it lies; an item that becomes empty is forgotten.
    mutating func update(_ id: ItemID, _ change: (inout Item) -> Void) {
        let index = Int(id.number)
        guard slots.indices.contains(index), slots[index] != nil else { return }
        // An item is never without identity, so the new one is only there for the type.
        change(&slots[index, default: Item(id)])
        if slots[index]?.isEmpty == true { slots[index] = nil }
    }

    /// A number that no item ever had.
    mutating func newItem() -> ItemID {
        slots.append(nil)
        return ItemID(Int64(slots.count - 1))
    }

    private mutating func reserve(upTo id: ItemID) {
        while slots.count <= Int(id.number) { slots.append(nil) }
    }

    /// All numbers ever given, the root's aside.
    var numbers: Range<Int64> { 1..<Int64(slots.count) }

    /// All items in the order of their identities, the root aside.
    var items: [Item] { slots.dropFirst().compactMap { $0 } }

    /// The items for which there is something to decide.
    var unsettled: [ItemID] {
        var found: [ItemID] = []
        for index in 1..<max(1, slots.count) where slots[index]?.isSettled == false {
            found.append(ItemID(Int64(index)))
        }
        return found
    }

    /// The item of that identity; nil when there is none.
    func item(_ id: ItemID) -> Item? { self[id] }

    /// The items in a folder as a side shows it.
    func children(of folder: ItemID, on side: Side) -> [Item] {
        var found: [Item] = []
        for index in 1..<max(1, slots.count) where parent(index, side) == folder {
            if let item = slots[index] { found.append(item) }
        }
        return found
    }

    /// The items under one key in a folder as a side shows it.
    func children(of folder: ItemID, key: String, on side: Side) -> [Item] {
        var found: [Item] = []
        for index in 1..<max(1, slots.count) where parent(index, side) == folder && self.key(index, side) == key {
            if let item = slots[index] { found.append(item) }
        }
        return found
    }

    private func parent(_ index: Int, _ side: Side) -> ItemID? {
        side == .local ? slots[index]?.local?.location.parent : slots[index]?.remote?.location.parent
    }

    private func key(_ index: Int, _ side: Side) -> String? {
        side == .local ? slots[index]?.local?.location.name.key : slots[index]?.remote?.location.name.key
    }

    /// Whether an item is a folder or lies in one, on one side.
    func isBelow(_ item: ItemID, orSameAs folder: ItemID, on side: Side) -> Bool {
        var next = item
        for _ in 0...slots.count {
            if next == folder { return true }
            guard next != .root, let above = parent(Int(next.number), side) else { return false }
            next = above
        }
        return true
    }
}

extension Array where Element == Item? {
    /// An item that is known to be there.
    fileprivate subscript(index: Int, default missing: Item) -> Item {
        get { self[index] ?? missing }
        set { self[index] = newValue }
    }
}

extension Item {
    /// What both sides had in common, for tests that make up trees.
    var base: SyncedState? {
        get { synced }
        set { setBase(newValue) }
    }
}
