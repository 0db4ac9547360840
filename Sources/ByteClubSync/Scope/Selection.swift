import ByteClubCore

/// The folders of a mirror that are left out by choice, as the database keeps them: one path a line, as keys.
struct Selection: Sendable {
    /// The folders' keys, relative to the mirror's root.
    private(set) var keys: Set<PathKey>

    /// Reads what the database keeps.
    init(_ text: String?) {
        keys = Set((text ?? "").split(separator: "\n").map { PathKey(folded: String($0)) })
    }

    /// What the database keeps; nil when nothing is left out.
    var text: String? { keys.isEmpty ? nil : keys.map(\.string).sorted().joined(separator: "\n") }

    /// Leaves a folder out, and those in it with it.
    mutating func leaveOut(_ key: PathKey) {
        if keys.contains(where: { key.isBelow($0) }) { return }
        keys = keys.filter { !$0.isBelow(key) }
        keys.insert(key)
    }

    /// Takes a folder in again with those in it; false when one above it is left out.
    mutating func takeIn(_ key: PathKey) -> Bool {
        keys = keys.filter { $0 != key && !$0.isBelow(key) }
        return !keys.contains { key.isBelow($0) }
    }
}
