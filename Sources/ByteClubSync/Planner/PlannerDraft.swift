import ByteClubCore

/// A plan under construction, with the decisions so far.
struct PlannerDraft<View: TreeView> {
    /// A name in a folder of one side.
    struct Spot: Hashable {
        var side: Side
        var folder: ItemID
        var key: String
    }

    /// An item on one side.
    struct Node: Hashable {
        var side: Side
        var item: ItemID
    }

    let view: View
    let naming: ConflictNaming
    private var folders: [ItemID: Item] = [:]
    /// The item that will have a name once the plan is carried out.
    var claims: [Spot: ItemID] = [:]
    /// The decided arrivals.
    var arrivals: [Node: Arrival] = [:]
    /// The stack of undecided arrivals, each with the item whose name it waits for.
    var waiting: [(node: Node, name: ItemID?)] = []
    /// The target folder and level of the items that are moved or created.
    var moves: [Node: (folder: ItemID, level: Int)] = [:]
    /// The new locations of the items that move on disk.
    var locations: [ItemID: Location] = [:]
    /// The levels at which items are parked under temporary names.
    var parkedLevels: [Node: Int] = [:]
    /// The decisions about folders that are to be deleted.
    var fates: [Node: Fate] = [:]
    /// The items that are renamed on disk because of a clash.
    var renamed: Set<ItemID> = []
    /// Items that are linked to an equal one of the other side.
    var linked: Set<ItemID> = []
    /// The conflict copies that are in a folder, on either side.
    var knownCopies: [ItemID: [(name: String, hash: ContentHash, item: Item)]] = [:]

    private var blockingAncestors: [ItemID: ItemID?] = [:]
    private var decided: Set<ItemID> = []
    private var unread: Set<ItemID> = []
    private var bookkeeping: [PlannedOperation] = []
    private var structure: [[PlannedOperation]] = []
    private var contents: [PlannedOperation] = []
    private var deletions: [[PlannedOperation]] = []
    // Last, since they change the locations of all that is in a folder.
    private var links: [PlannedOperation] = []
    private var plan = Plan()

    init(_ view: View, _ naming: ConflictNaming) { (self.view, self.naming) = (view, naming) }

    /// The finished plan.
    consuming func finished() -> Plan {
        let batches = [bookkeeping] + structure + [contents] + deletions + [links]
        plan.batches = batches.filter { !$0.isEmpty }.map { $0.sorted { $0.item < $1.item } }
        plan.unread = unread.sorted()
        return plan
    }

    /// Decides about one item.
    mutating func decide(_ id: ItemID) throws {
        guard decided.insert(id).inserted, let item = try item(id) else { return }
        if let blockingAncestor = try blockingAncestor(of: item) {
            plan.blocked[id] = .frozen(blockingAncestor)
            return
        }
        switch item.intent {
        case .settled: break
        case .forget: note(id, .forget, .forgotten)
        case .keep: note(id, .resurrect, .kept)
        case .read: read(id)
        case .delete(let side): try delete(item, on: side)
        case .create(let side): try come(item, on: side)
        case .merge(let side, let content):
            if let side { try come(item, on: side) }
            try merge(item, content, isPlaced: side == nil)
        }
    }

    /// Reads an item; a folder, which many ask for, once.
    mutating func item(_ id: ItemID) throws -> Item? {
        if let folder = folders[id] { return folder }
        let item = try view.item(id)
        if let item, item.isFolder { folders[id] = item }
        return item
    }

    /// The frozen or excluded item that blocks an item: itself or an ancestor on either side; nil when there is none.
    mutating func blockingAncestor(of item: Item) throws -> ItemID? {
        if item.isExcluded || item.isFrozen { return item.id }
        if let folder = item.local?.location.parent, let found = try blockingAncestor(above: folder) { return found }
        if let folder = item.remote?.location.parent, folder != item.local?.location.parent {
            return try blockingAncestor(above: folder)
        }
        return nil
    }

    private mutating func blockingAncestor(above start: ItemID) throws -> ItemID? {
        if start == .root { return nil }
        if let known = blockingAncestors[start] { return known }
        var seen = [start]
        var next = 0
        while next < seen.count {
            let id = seen[next]
            next += 1
            if let known = blockingAncestors[id] {
                guard let found = known else { continue }
                blockingAncestors[start] = .some(found)
                return found
            }
            guard let item = try item(id) else { continue }
            if item.isExcluded || item.isFrozen {
                blockingAncestors[start] = .some(id)
                return id
            }
            for side in [Side.local, .remote] {
                if let folder = item.location(on: side)?.parent, folder != .root, !seen.contains(folder) {
                    seen.append(folder)
                }
            }
        }
        for id in seen { blockingAncestors[id] = .some(nil) }
        return nil
    }

    // MARK: Operations

    mutating func note(_ id: ItemID, _ what: Bookkeeping, _ rule: Rule) {
        bookkeeping.append(.note(id, what))
        plan.rules[id] = rule
    }

    mutating func linkIdentity(_ local: ItemID, _ remote: ItemID) {
        links.append(.note(local, .linkIdentity(to: remote)))
        plan.rules[local] = .linked
        plan.rules[remote] = .linked
    }

    mutating func read(_ id: ItemID) { unread.insert(id) }

    mutating func explain(_ id: ItemID, _ rule: Rule) { plan.rules[id] = rule }

    /// Notes the rule for a content, unless a clash, a cycle or a move on both sides is noted already.
    mutating func explainContent(_ id: ItemID, _ rule: Rule) {
        switch plan.rules[id] {
        case .nameClash, .cycle, .movedBoth: break
        default: plan.rules[id] = rule
        }
    }

    mutating func block(_ id: ItemID, _ blocker: Blocker) { plan.blocked[id] = blocker }

    /// A folder or a move, after all that has lower levels.
    mutating func build(_ operation: PlannedOperation, at level: Int) { Self.add(operation, to: &structure, at: level) }

    mutating func transfer(_ operation: PlannedOperation) { contents.append(operation) }

    /// Adds a deletion, after the deletions of lower heights.
    mutating func remove(_ operation: PlannedOperation, at height: Int) {
        Self.add(operation, to: &deletions, at: height)
    }

    private static func add(_ operation: PlannedOperation, to batches: inout [[PlannedOperation]], at index: Int) {
        while batches.count <= index { batches.append([]) }
        batches[index].append(operation)
    }
}
