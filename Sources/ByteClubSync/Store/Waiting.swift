/// Items that wait, or travel, without anything being wrong with them, as the database keeps them for those who ask why.
struct Waiting: Hashable, Sendable {
    /// What is with such an item.
    enum Reason: Hashable, Sendable {
        /// It is a large file on its way, of which so many bytes have travelled.
        case underWay(bytes: Int64)
        /// It is a large file, and others go first.
        case queued
        /// It is a large file, and the schedule lets none travel now.
        case scheduled
        /// Somebody is writing it; it is looked at again then, in seconds since 1970.
        case written(until: Int64)
    }

    var items: [ItemID: Reason] = [:]

    /// What the database keeps, an item a line; nil when nothing waits.
    var text: String? {
        let lines = items.sorted { $0.key < $1.key }.map { "\($0.key.number) \($0.value.text)" }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    init() {}

    /// Reads what the database keeps.
    init(_ text: String?) {
        for line in (text ?? "").split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let item = words.first.flatMap({ Int64($0) }), let reason = Reason(words.dropFirst()) else {
                continue
            }
            items[ItemID(item)] = reason
        }
    }
}

extension Waiting.Reason {
    fileprivate var text: String {
        switch self {
        case .underWay(let bytes): "under-way \(bytes)"
        case .queued: "queued"
        case .scheduled: "scheduled"
        case .written(let until): "written \(until)"
        }
    }

    fileprivate init?(_ words: ArraySlice<Substring>) {
        switch (words.first, words.dropFirst().first.flatMap { Int64($0) }) {
        case ("under-way", let bytes?): self = .underWay(bytes: bytes)
        case ("queued", nil): self = .queued
        case ("scheduled", nil): self = .scheduled
        case ("written", let until?): self = .written(until: until)
        default: return nil
        }
    }
}
