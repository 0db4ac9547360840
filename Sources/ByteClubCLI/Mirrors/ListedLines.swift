import ByteClubCore

/// Long lists for people: a line for each of the first entries, and one with the number of the rest.
enum ListedLines {
    /// The most entries of a kind to list one by one.
    static let most = 20

    /// The lines of a list; `count` is the number of items that an entry stands for.
    static func first<Entry>(
        _ entries: [Entry], count: (Entry) -> Int = { _ in 1 }, _ line: (Entry) -> String
    ) -> [String] {
        let lines = entries.prefix(most).map(line)
        let more = entries.dropFirst(most).reduce(0) { $0 + count($1) }
        return more > 0 ? lines + ["and \(more) more; --json lists all"] : lines
    }
}

/// Entries that wait for the same reason.
struct ProblemGroup: Hashable, Sendable {
    /// The first entry's path.
    var path: String
    /// The number of entries.
    var count: Int
    /// Why they wait.
    var message: String

    /// The first entry and the number of the others.
    var entries: String { path + (count > 1 ? " and \(count - 1) more" : "") }

    /// The line for people.
    var text: String { "\(entries): \(message)" }

    /// Groups problems by message, in the order in which the messages first occur.
    static func groups(of problems: [(path: String, message: String)]) -> [ProblemGroup] {
        var groups: [ProblemGroup] = []
        var known: [String: Int] = [:]
        for (path, message) in problems {
            if let index = known[message] {
                groups[index].count += 1
            } else {
                known[message] = groups.count
                groups.append(ProblemGroup(path: path, count: 1, message: message))
            }
        }
        return groups
    }
}

/// Limits the events about waiting paths that are printed: the first of each kind and reason, until the end of a sync.
struct EventLimit: Sendable {
    private static let words: [(kind: SyncEvent.Kind, rest: String)] = [
        (.held, "held; 'byteclub sync deletes review --json' lists all"),
        (.problem, "skipped; 'byteclub status --json' lists all"),
    ]

    private var counts: [SyncEvent.Kind: Int] = [:]
    /// How many more paths have a problem that was printed for another path, in order of first occurrence.
    private var repeated: [(message: String, count: Int)] = []

    /// Counts an event and returns whether to print it.
    mutating func tells(_ event: SyncEvent) -> Bool {
        guard event.path != nil, Self.words.contains(where: { $0.kind == event.event }) else { return true }
        if event.event == .problem, let message = event.message {
            if let index = repeated.firstIndex(where: { $0.message == message }) {
                repeated[index].count += 1
                return false
            }
            if repeated.count < ListedLines.most { repeated.append((message, 0)) }
        }
        let count = counts[event.event, default: 0] + 1
        counts[event.event] = count
        return count <= ListedLines.most
    }

    /// Lines that count the events not printed so far; resets the counts.
    mutating func rest() -> [String] {
        defer { (counts, repeated) = ([:], []) }
        return repeated.filter { $0.count > 0 }.map { "and \($0.count) more: \($0.message)" }
            + Self.words.compactMap { kind, rest in
                let more = counts[kind, default: 0] - ListedLines.most
                return more > 0 ? "and \(more) more are \(rest)" : nil
            }
    }
}
