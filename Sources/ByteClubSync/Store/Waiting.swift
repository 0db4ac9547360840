/// Items that wait without anything being wrong with them, as the database keeps them for those who ask why.
struct Waiting: Hashable, Sendable {
    /// Large files that are on their way.
    var underWay: Set<ItemID> = []
    /// Files that somebody is writing, and when they are looked at again, in seconds since 1970.
    var written: [ItemID: Int64] = [:]

    /// What the database keeps; nil when nothing waits.
    var text: String? {
        let lines =
            underWay.sorted().map { "\($0.number)" }
            + written.sorted { $0.key < $1.key }.map { "\($0.key.number) \($0.value)" }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    init() {}

    /// Reads what the database keeps.
    init(_ text: String?) {
        for line in (text ?? "").split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { Int64($0) }
            guard let item = numbers.first.map(ItemID.init) else { continue }
            if numbers.count > 1 { written[item] = numbers[1] } else { underWay.insert(item) }
        }
    }
}
