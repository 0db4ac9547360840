/// Decides what to do so that disk and server come to agree: a pure function of the three trees.
///
/// Place and content of an item are merged apart from each other; what is done to one side never depends on how far the
/// other side has come. Everything that an item needs, a folder to be in or a name to be free, is decided on demand, so
/// that one plan carries as much as can be done in order.
enum Planner {
    /// Decides about items for which there is something to decide, all or some of them, and about what they need.
    static func plan(_ dirty: [ItemID], in view: some TreeView) throws -> Plan {
        var draft = PlannerDraft(view)
        for id in dirty { try draft.decide(id) }
        return draft.finished()
    }
}
