/// A cache of recently read or saved items: work on one item reads it several times.
struct ItemCache {
    private let capacity: Int
    private var items: [ItemID: Item] = [:]

    /// Makes a cache of so many items at most.
    init(capacity: Int) { self.capacity = capacity }

    /// An item, if it is known.
    subscript(_ id: ItemID) -> Item? { items[id] }

    /// Keeps an item.
    mutating func keep(_ item: Item) {
        if capacity == 0 { return }
        if items.count >= capacity { items.removeAll(keepingCapacity: true) }
        items[item.id] = item
    }

    /// Forgets an item.
    mutating func forget(_ id: ItemID) { items[id] = nil }

    /// Forgets all.
    mutating func clear() { items.removeAll() }
}
