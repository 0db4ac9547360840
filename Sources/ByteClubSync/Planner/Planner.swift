/// Plans the operations that bring disk and server to agreement: a pure function of the three trees (local, remote,
/// synced).
///
/// Location and content of an item are merged independently; what is done to one side never depends on how far the
/// other side has come. What an item needs, a parent folder or a free name, is decided on demand, so that one plan
/// contains as much as can be done in order.
enum Planner {
    /// Plans all or some of the unsettled items, and whatever these depend on; `naming` names the conflict copies.
    ///
    /// - Throws: The view's errors.
    static func plan(
        _ dirty: [ItemID], in view: some TreeView, naming: ConflictNaming = ConflictNaming()
    ) throws -> Plan {
        var draft = PlannerDraft(view, naming)
        for id in dirty { try draft.decide(id) }
        return draft.finished()
    }
}
