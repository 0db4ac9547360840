/// A plan in the making, with what has been found out for it.
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
    private var folders: [ItemID: Item] = [:]
    /// Who will be under a name when the plan is carried out.
    var claims: [Spot: ItemID] = [:]
    /// How far the arrivals have been decided.
    var arrivals: [Node: Arrival] = [:]
    /// The arrivals under way, each with the one whose name it waits for.
    var waiting: [(node: Node, name: ItemID?)] = []
    /// In which folder the items will be that move or are made, and at which level.
    var moves: [Node: (folder: ItemID, level: Int)] = [:]
    /// The places of the items that move on disk.
    var places: [ItemID: Place] = [:]
    /// At which level an item leaves its name without having come to its place.
    var asides: [Node: Int] = [:]
    /// What becomes of the folders that are to be deleted.
    var fates: [Node: Fate] = [:]
    /// The items that give up their name on disk.
    var renamed: Set<ItemID> = []
    /// Entries of the disk and the server that have found their like.
    var unified: Set<ItemID> = []

    private var freezers: [ItemID: ItemID?] = [:]
    private var decided: Set<ItemID> = []
    private var unread: Set<ItemID> = []
    private var bookkeeping: [Operation] = []
    private var structure: [[Operation]] = []
    private var contents: [Operation] = []
    private var deletions: [[Operation]] = []
    // Last, since the places of all that is in the folder change.
    private var unifications: [Operation] = []
    private var plan = Plan()

    init(_ view: View) { self.view = view }

    /// The plan as it is now.
    consuming func finished() -> Plan {
        let batches = [bookkeeping] + structure + [contents] + deletions + [unifications]
        plan.batches = batches.filter { !$0.isEmpty }.map { $0.sorted { $0.item < $1.item } }
        plan.unread = unread.sorted()
        return plan
    }

    /// Decides about one item.
    mutating func decide(_ id: ItemID) throws {
        guard decided.insert(id).inserted, let item = try item(id) else { return }
        if let freezer = try freezer(of: item) {
            plan.blocked[id] = .frozen(freezer)
            return
        }
        switch item.intent {
        case .settled: break
        case .forget: note(.forget(id), .forgotten)
        case .keep: note(.revoke(id), .kept)
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

    /// What keeps an item from being decided about: itself or something above it on either side.
    mutating func freezer(of item: Item) throws -> ItemID? {
        if item.isExcluded || item.isFrozen { return item.id }
        if let folder = item.local?.place.parent, let found = try freezer(above: folder) { return found }
        if let folder = item.remote?.place.parent, folder != item.local?.place.parent {
            return try freezer(above: folder)
        }
        return nil
    }

    private mutating func freezer(above start: ItemID) throws -> ItemID? {
        if start == .root { return nil }
        if let known = freezers[start] { return known }
        var seen = [start]
        var next = 0
        while next < seen.count {
            let id = seen[next]
            next += 1
            if let known = freezers[id] {
                guard let found = known else { continue }
                freezers[start] = .some(found)
                return found
            }
            guard let item = try item(id) else { continue }
            if item.isExcluded || item.isFrozen {
                freezers[start] = .some(id)
                return id
            }
            for side in [Side.local, .remote] {
                if let folder = item.place(on: side)?.parent, folder != .root, !seen.contains(folder) {
                    seen.append(folder)
                }
            }
        }
        for id in seen { freezers[id] = .some(nil) }
        return nil
    }

    // MARK: What is to be done

    mutating func note(_ operation: Operation, _ rule: Rule) {
        bookkeeping.append(operation)
        plan.rules[operation.item] = rule
    }

    mutating func unify(_ local: ItemID, _ remote: ItemID) {
        unifications.append(.unify(local: local, remote: remote))
        plan.rules[local] = .unified
        plan.rules[remote] = .unified
    }

    mutating func read(_ id: ItemID) { unread.insert(id) }

    mutating func explain(_ id: ItemID, _ rule: Rule) { plan.rules[id] = rule }

    /// Tells why a content goes; a clash or a cycle tells more.
    mutating func explainContent(_ id: ItemID, _ rule: Rule) {
        switch plan.rules[id] {
        case .nameClash, .cycle, .movedBoth: break
        default: plan.rules[id] = rule
        }
    }

    mutating func block(_ id: ItemID, _ blocker: Blocker) { plan.blocked[id] = blocker }

    /// A folder or a move, after all that has lower levels.
    mutating func build(_ operation: Operation, at level: Int) { Self.add(operation, to: &structure, at: level) }

    mutating func transfer(_ operation: Operation) { contents.append(operation) }

    /// A deletion, after those of lower heights.
    mutating func remove(_ operation: Operation, at height: Int) { Self.add(operation, to: &deletions, at: height) }

    private static func add(_ operation: Operation, to batches: inout [[Operation]], at index: Int) {
        while batches.count <= index { batches.append([]) }
        batches[index].append(operation)
    }
}
