/// The table of watch descriptors and items; a watch stays with its folder when that is moved.
struct Watches: Sendable {
    /// Folders that the system refused to watch.
    private(set) var refused: Set<ItemID> = []
    /// The error number of the last refusal.
    private(set) var refusal: Int32 = 0
    /// The error number with which the system has ended watching; nil while it watches.
    private(set) var failure: Int32?
    private var items: [Int32: ItemID] = [:]
    private var numbers: [ItemID: Int32] = [:]

    /// How many folders are watched.
    var count: Int { numbers.count }

    func item(_ number: Int32) -> ItemID? { items[number] }
    func number(_ item: ItemID) -> Int32? { numbers[item] }

    mutating func add(_ number: Int32, _ item: ItemID) {
        if let other = items[number], other != item { numbers[other] = nil }
        if let old = numbers[item], old != number { items[old] = nil }
        items[number] = item
        numbers[item] = number
        refused.remove(item)
    }

    mutating func refuse(_ item: ItemID, _ code: Int32) {
        if let old = numbers.removeValue(forKey: item) { items[old] = nil }
        refused.insert(item)
        refusal = code
    }

    /// Notes that the system tells of no folder any more.
    mutating func fail(_ code: Int32) { failure = code }

    /// Forgets a watch that the system has ended.
    mutating func end(_ number: Int32) {
        guard let item = items.removeValue(forKey: number) else { return }
        if numbers[item] == number { numbers[item] = nil }
    }

    /// Forgets a folder; the result is its watch, which is to be ended.
    mutating func remove(_ item: ItemID) -> Int32? {
        refused.remove(item)
        guard let number = numbers.removeValue(forKey: item) else { return nil }
        items[number] = nil
        return number
    }
}
