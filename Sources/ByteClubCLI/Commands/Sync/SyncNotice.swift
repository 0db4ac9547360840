import ByteClubCore

/// What other members did while a mirror was synced, gathered for one notice.
struct SyncNotice: Hashable, Sendable {
    /// So many entries are named one by one.
    static let most = 5

    private var counts: [String: Int] = [:]
    private var lines: [String] = []

    /// Whether there is nothing to tell.
    var isEmpty: Bool { counts.isEmpty }

    /// Adds an event; what this machine did itself is left out.
    mutating func add(_ event: SyncEvent) {
        switch event.event {
        case .download: add(event.isNew == true ? "added" : "changed", event.path)
        case .deleteLocal: add("removed", event.path)
        case .moveLocal: add("moved", event.path)
        case .merge: add("merged", event.path)
        case .conflict: add("conflict", event.path)
        default: break
        }
    }

    private mutating func add(_ word: String, _ path: String?) {
        counts[word, default: 0] += 1
        if lines.count < Self.most { lines.append("\(word) \(Failure.line(path ?? ""))") }
    }

    /// Title and text: how many of each kind, and the first ones by name.
    var words: (title: String, text: String) {
        let parts = ["added", "changed", "removed", "moved", "merged"].compactMap { word in
            counts[word].map { "\($0) \(word)" }
        }
        let conflicts = counts["conflict"].map { ["\($0) \($0 == 1 ? "conflict" : "conflicts")"] } ?? []
        let rest = counts.values.reduce(0, +) - lines.count
        return (
            "ByteClub: " + (parts + conflicts).joined(separator: ", "),
            (lines + (rest > 0 ? ["and \(rest) more"] : [])).joined(separator: "\n")
        )
    }
}
