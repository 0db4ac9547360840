import ByteClubCore

/// Long lists for people: a line for each of the first entries, and one that counts all others.
enum ListedLines {
    /// The most entries of a kind that are told one by one.
    static let most = 20

    /// A line for each of the first, and one for all others, of which each may stand for several.
    static func first<Entry>(
        _ entries: [Entry], count: (Entry) -> Int = { _ in 1 }, _ line: (Entry) -> String
    ) -> [String] {
        let lines = entries.prefix(most).map(line)
        let more = entries.dropFirst(most).reduce(0) { $0 + count($1) }
        return more > 0 ? lines + ["and \(more) more; --json lists all"] : lines
    }
}

/// Entries of a mirror that wait for the same reason.
struct ProblemGroup: Hashable, Sendable {
    /// The first of them.
    var path: String
    /// How many there are.
    var count: Int
    /// Why they wait.
    var message: String

    /// The line for people.
    var text: String { "\(path)\(count > 1 ? " and \(count - 1) more" : ""): \(message)" }

    /// Puts together what waits for the same reason, in the order in which the reasons come first.
    static func groups(of problems: [SyncStatus.Problem]) -> [ProblemGroup] {
        var groups: [ProblemGroup] = []
        var known: [String: Int] = [:]
        for problem in problems {
            if let index = known[problem.message] {
                groups[index].count += 1
            } else {
                known[problem.message] = groups.count
                groups.append(ProblemGroup(path: problem.path, count: 1, message: problem.message))
            }
        }
        return groups
    }
}

/// Which events about single paths that wait are told one by one: the first of each kind and for each reason, until a
/// sync has ended.
struct EventLimit: Sendable {
    private static let words: [(kind: SyncEvent.Kind, rest: String)] = [
        (.held, "held; 'byteclub sync deletes review --json' lists all"),
        (.problem, "skipped; 'byteclub status --json' lists all"),
    ]

    private var counts: [SyncEvent.Kind: Int] = [:]
    /// How many more paths have a problem that was told of one, in the order in which that came.
    private var repeated: [(message: String, count: Int)] = []

    /// Counts an event; whether it is told.
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

    /// A line for those of each kind that were not told, which are told then.
    mutating func rest() -> [String] {
        defer { (counts, repeated) = ([:], []) }
        return repeated.filter { $0.count > 0 }.map { "and \($0.count) more: \($0.message)" }
            + Self.words.compactMap { kind, rest in
                let more = counts[kind, default: 0] - ListedLines.most
                return more > 0 ? "and \(more) more are \(rest)" : nil
            }
    }
}
