/// How many entries the ignore rules leave out in each folder on disk; what is in an ignored folder is not looked at.
struct IgnoredOnDisk: Hashable, Sendable {
    private var counts: [ItemID: Int] = [:]

    /// Reads what the database keeps.
    init(_ text: String?) {
        for line in (text ?? "").split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { Int64($0) }
            if let folder = numbers.first, let count = numbers.dropFirst().first {
                counts[ItemID(folder)] = Int(clamping: count)
            }
        }
    }

    /// What the database keeps, a folder a line; nil when nothing is left out.
    var text: String? {
        let lines = counts.sorted { $0.key < $1.key }.map { "\($0.key.number) \($0.value)" }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    /// Notes what a listing of a folder has shown.
    mutating func note(_ count: Int, in folder: ItemID) { counts[folder] = count == 0 ? nil : count }

    /// How many there are in the folders that are still there.
    func total(in view: some TreeView) throws -> Int {
        try counts.reduce(0) { try $0 + (view.item($1.key)?.local == nil ? 0 : $1.value) }
    }
}
