/// The decision tables of the engine for one item, written down as they read, and without the planner.
///
/// A name clash, a circle of folders and what a folder holds concern several items: see ``ExpectedTrees``.
enum DecisionTable {
    /// What happened to an item on one side since both were equal; nobody knows when `unknown`.
    enum Change: Int {
        case none, edit, move, editAndMove, delete, create, unknown

        init(isEdited: Bool, isMoved: Bool) {
            self = isEdited ? isMoved ? .editAndMove : .edit : isMoved ? .move : .none
        }
    }

    /// What both sides show in the end.
    struct Verdict: Equatable {
        /// Whose content; nil when the item is gone.
        var content: Source?
        /// Whose place.
        var location = Source.base
        /// Whether the content that was synced ends in the local trash.
        var isTrashed = false
        /// Whether the content that was synced ends in the server's history.
        var isHistory = false
    }

    enum Source: Character {
        case base = "o"
        case mine = "l"
        case theirs = "r"
        /// Merged: equal contents are one; of others, the server's stays and the disk's becomes a copy beside it.
        case merged = "M"
    }

    // Rows are what happened on disk, columns what happened on the server. Contents: `o`ld, `l`ocal, `r`emote,
    // `M`erged. Places: `p` the old one, `x` the disk's, `y` the server's. `-` is gone; `t` in the trash, `h` in the
    // history.
    private static let text = """
                  none   edit   move   edit+move delete create unknown
        none      o@p    r@p/t  o@y    r@y/t     -/t    ?      ?
        edit      l@p/h  M@p    l@y/h  M@y       l@p    ?      ?
        move      o@x    r@x/t  o@y    r@y/t     o@x    ?      ?
        edit+move l@x/h  M@x    l@y/h  M@y       l@x    ?      ?
        delete    -/h    r@p    o@y    r@y       -      r@y    ?
        create    ?      ?      ?      ?         l@x    ?      ?
        unknown   ?      ?      ?      ?         ?      ?      M@y
        """

    private static let verdicts: [[Verdict?]] = text.split(separator: "\n").dropFirst().map { line in
        line.split(separator: " ").dropFirst().map { verdict(String($0)) }
    }

    /// The cell for what happened on both sides; nil when both cannot have happened to one item.
    static func verdict(_ local: Change, _ remote: Change) -> Verdict? { verdicts[local.rawValue][remote.rawValue] }

    private static func verdict(_ cell: String) -> Verdict? {
        guard cell != "?" else { return nil }
        var verdict = Verdict(content: cell.first.flatMap(Source.init), location: .base)
        if cell.contains("@x") { verdict.location = .mine }
        if cell.contains("@y") { verdict.location = .theirs }
        verdict.isTrashed = cell.hasSuffix("/t")
        verdict.isHistory = cell.hasSuffix("/h")
        return verdict
    }
}
