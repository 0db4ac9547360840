import ByteClubCore

/// Long lists for people: a line for each of the first entries, and one that counts all others.
enum ListedLines {
    /// The most entries of a kind that are told one by one.
    static let most = 20

    /// A line for each of the first, and one for all others.
    static func first<Entry>(_ entries: [Entry], _ line: (Entry) -> String) -> [String] {
        let lines = entries.prefix(most).map(line)
        let more = entries.count - lines.count
        return more > 0 ? lines + ["and \(more) more; --json tells all"] : lines
    }
}

/// Which events about single paths that wait are told one by one: the first of each kind, until a sync has ended.
struct EventLimit: Sendable {
    private static let words: [(kind: SyncEvent.Kind, rest: String)] = [
        (.held, "held; 'byteclub sync deletes review --json' tells all"),
        (.problem, "left alone; 'byteclub status --json' tells all"),
    ]

    private var counts: [SyncEvent.Kind: Int] = [:]

    /// Counts an event; whether it is told.
    mutating func tells(_ event: SyncEvent) -> Bool {
        guard event.path != nil, Self.words.contains(where: { $0.kind == event.event }) else { return true }
        let count = counts[event.event, default: 0] + 1
        counts[event.event] = count
        return count <= ListedLines.most
    }

    /// A line for those of each kind that were not told, which are told then.
    mutating func rest() -> [String] {
        defer { counts = [:] }
        return Self.words.compactMap { kind, rest in
            let more = counts[kind, default: 0] - ListedLines.most
            return more > 0 ? "and \(more) more are \(rest)" : nil
        }
    }
}
