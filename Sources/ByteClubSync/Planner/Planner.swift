/// Plans the operations that bring disk and server to agreement: a pure function of the three trees (local, remote,
/// synced).
///
/// Location and content of an item are merged independently; an operation on one side never depends on the progress of
/// the other side. Requirements of an item, such as a parent folder or a free name, are decided on demand, so that one
/// plan contains as much as can be done in order.
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

/// What to do next, as batches in their order; the operations of one batch commute.
struct Plan: Hashable, Sendable {
    var batches: [[PlannedOperation]] = []
    /// Files whose hash is needed before anything can be decided about them.
    var unread: [ItemID] = []
    /// Why nothing is done about an item now.
    var blocked: [ItemID: Blocker] = [:]
    /// The rule that decided about an item, for `why` and the log.
    var rules: [ItemID: Rule] = [:]

    /// All operations in order.
    var operations: [PlannedOperation] { batches.flatMap { $0 } }

    /// The items among these that the plan uploads.
    func uploads(among items: Set<ItemID>) -> [ItemID] {
        if items.isEmpty { return [] }
        return batches.joined().compactMap(\.write).filter { $0.action == .upload && items.contains($0.item) }
            .map(\.item)
    }
}

/// Why an operation is postponed.
enum Blocker: Hashable, Sendable {
    /// Its parent folder does not exist yet, or is not known yet.
    case parent(ItemID)
    /// Another entry still has the name.
    case name(ItemID)
    /// The folder is not empty on the side where it is to be deleted.
    case contents(ItemID)
    /// It is excluded or cannot be read, or something above it is.
    case frozen(ItemID)
}

/// The rule that decided, named as in the decision tables.
enum Rule: String, Hashable, Sendable, Codable {
    case adopted, forgotten, kept
    case linked = "unified"
    case createdLocally = "created-on-disk"
    case createdRemotely = "created-on-server"
    case editedLocally = "edited-on-disk"
    case editedRemotely = "edited-on-server"
    case editedBoth = "edited-on-both"
    case movedLocally = "moved-on-disk"
    case movedRemotely = "moved-on-server"
    case movedBoth = "moved-on-both"
    case deletedLocally = "deleted-on-disk"
    case deletedRemotely = "deleted-on-server"
    case nameClash = "name-clash"
    case cycle
}

/// The trees with the missing items frozen: those that a scan did not find and that may turn up elsewhere (invariant
/// I8).
struct UnconfirmedView: TreeView {
    let base: any TreeStore
    /// The entries.
    let unconfirmed: Set<ItemID>

    func item(_ id: ItemID) throws -> Item? { try base.item(id).map(shown) }

    func children(of folder: ItemID, on side: Side) throws -> [Item] {
        shown(try base.children(of: folder, on: side))
    }

    func children(of folder: ItemID, key: String, on side: Side) throws -> [Item] {
        shown(try base.children(of: folder, key: key, on: side))
    }

    private func shown(_ items: [Item]) -> [Item] { unconfirmed.isEmpty ? items : items.map(shown) }

    private func shown(_ item: Item) -> Item {
        guard unconfirmed.contains(item.id) else { return item }
        var frozen = item
        frozen.isFrozen = true
        return frozen
    }
}
