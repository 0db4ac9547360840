extension PlannerDraft {
    /// Whether an item that is to be deleted on a side can be.
    enum Fate: Hashable {
        /// It is deleted after its contents; `height` is the height of its subtree.
        case goes(height: Int)
        /// Something in it stays, so it is kept.
        case survives
        /// Something in it must be decided first.
        case waits(Blocker)
        /// Something in it must be moved out, which waits for this deletion.
        case waitsForItself
    }

    /// Decides about an item that the other side has deleted.
    mutating func delete(_ item: Item, on side: Side) throws {
        switch try fate(of: item, on: side) {
        case .survives: note(item.id, .resurrect, .kept)
        case .waits(let blocker): block(item.id, blocker)
        case .waitsForItself: block(item.id, .contents(item.id))
        case .goes(let height):
            if side == .remote {
                explain(item.id, .deletedLocally)
                // One deletion includes all that is in a folder.
                if try !goesWithFolder(item) { remove(.server(item.id, .delete), at: 0) }
            } else {
                explain(item.id, .deletedRemotely)
                if item.isFolder {
                    for child in try view.children(of: item.id, on: .local) { try decide(child.id) }
                }
                remove(.disk(item.id, .trash), at: height)
            }
        }
    }

    private mutating func goesWithFolder(_ item: Item) throws -> Bool {
        guard let folder = item.remote?.location.parent, let above = try self.item(folder),
            above.intent == .delete(.remote), try blockingAncestor(of: above) == nil
        else { return false }
        if case .goes = try fate(of: above, on: .remote) { return true }
        return false
    }

    /// Whether an item can be deleted on a side, by its contents there.
    mutating func fate(of item: Item, on side: Side) throws -> Fate {
        guard item.isFolder else { return .goes(height: 0) }
        let node = Node(side: side, item: item.id)
        if let known = fates[node] { return known }
        var worst = Fate.goes(height: 0)
        for child in try view.children(of: item.id, on: side) {
            let fate = try self.fate(ofChild: child, on: side)
            worst = Self.worse(worst, fate)
            if worst == .survives { break }
        }
        if worst != .waitsForItself { fates[node] = worst }
        return worst
    }

    /// The outcome for a folder: one child that stays is enough to keep it.
    private static func worse(_ one: Fate, _ other: Fate) -> Fate {
        switch (one, other) {
        case (.survives, _), (_, .survives): .survives
        case (.waitsForItself, _), (_, .waitsForItself): .waitsForItself
        case (.waits, _): one
        case (_, .waits): other
        case (.goes(let first), .goes(let second)): .goes(height: max(first, second))
        }
    }

    private mutating func fate(ofChild child: Item, on side: Side) throws -> Fate {
        // Excluded entries stay on disk, and so does their folder.
        if child.isExcluded { return side == .remote ? .survives : .goes(height: 0) }
        if let blockingAncestor = try blockingAncestor(of: child) { return .waits(.frozen(blockingAncestor)) }
        switch child.intent {
        case .delete(side):
            let fate = try fate(of: child, on: side)
            if case .goes(let height) = fate { return .goes(height: height + 1) }
            return fate
        case .settled: return child.isLeftover ? .goes(height: 0) : .survives
        case .read:
            read(child.id)
            return .waits(.contents(child.id))
        case .merge(side, _):
            switch try arrive(child, on: side) {
            case .planned: return .goes(height: 0)
            case .underWay: return .waitsForItself
            // With another name, it can still leave.
            case .undone: return renamed.contains(child.id) ? .waits(.contents(child.id)) : .survives
            case .waits: return .waits(.contents(child.id))
            }
        case .forget, .keep, .delete, .create, .merge: return .survives
        }
    }
}
