extension PlannerDraft {
    /// Whether and when an item gets the location that it has on the other side.
    enum Arrival: Hashable {
        /// It is being decided; finding this again is a cycle.
        case underWay
        /// It is there after the batch of this level.
        case planned(level: Int)
        /// It cannot get there; the disk's location is changed instead.
        case undone
        /// It is blocked.
        case waits(Blocker)
    }

    /// Plans how an item gets to its location, and notes the rule.
    mutating func come(_ item: Item, on side: Side) throws {
        switch try arrive(item, on: side) {
        case .planned, .underWay: break
        case .waits(let blocker): block(item.id, blocker)
        case .undone:
            // A name clash has been resolved already; a move that would make a cycle is undone.
            guard item.remote != nil, !renamed.contains(item.id) else { return }
            if case .waits(let blocker) = try arrive(item, on: .local) { block(item.id, blocker) }
        }
    }

    /// Plans the arrival of an item on a side, at most once.
    mutating func arrive(_ item: Item, on side: Side) throws -> Arrival {
        let node = Node(side: side, item: item.id)
        if let known = arrivals[node] { return known }
        arrivals[node] = .underWay
        waiting.append((node, nil))
        let arrival = try decideArrival(of: item, on: side)
        waiting.removeLast()
        arrivals[node] = arrival
        return arrival
    }

    private mutating func decideArrival(of item: Item, on side: Side) throws -> Arrival {
        if let blockingAncestor = try blockingAncestor(of: item) { return .waits(.frozen(blockingAncestor)) }
        guard let location = item.location(on: side.other) else { return .waits(.parent(item.id)) }
        var level = 0
        switch try entrance(to: location.parent, on: side) {
        case .planned(let above): level = above
        case .underWay:
            try breakCircle(at: location.parent, on: side)
            return .waits(.parent(location.parent))
        case let other: return other
        }
        let canLieInItself = item.isFolder && item.location(on: side) != nil
        let folderIsThere = try self.item(location.parent)?.location(on: side) != nil || location.parent == .root
        if canLieInItself {
            switch try ascent(of: item, into: location.parent, on: side) {
            case .planned(let after): level = max(level, after)
            case let other: return other
            }
        }
        let spot = Spot(side: side, folder: location.parent, key: location.name.key)
        if let holder = claims[spot], holder != item.id { return try clash(item, at: location, with: holder, on: side) }
        if folderIsThere {
            for holder in try view.children(of: location.parent, key: location.name.key, on: side)
            where holder.id != item.id {
                waiting[waiting.count - 1].name = holder.id
                switch try departure(of: holder, from: side) {
                case .leaves(let before): level = max(level, before + 1)
                case .later: return .waits(.name(holder.id))
                case .stays: return try clash(item, at: location, with: holder.id, on: side)
                case .waitsForItself: level = max(level, try park(holder, on: side) + 1)
                }
            }
            waiting[waiting.count - 1].name = nil
        }
        // Another item may have claimed the name while dependencies were decided.
        if let holder = claims[spot], holder != item.id { return .waits(.name(holder)) }
        if canLieInItself {
            // The folders above may have moved as well.
            switch try ascent(of: item, into: location.parent, on: side) {
            case .planned(let after): level = max(level, after)
            case let other: return other
            }
        }
        if let parked = parkedLevels[Node(side: side, item: item.id)] { level = max(level, parked + 1) }
        claims[spot] = item.id
        set(item, to: location, on: side, at: level)
        return .planned(level: level)
    }

    /// Breaks a cycle of items that wait for each other: one whose name is waited for is parked under a temporary name.
    private mutating func breakCircle(at id: ItemID, on side: Side) throws {
        guard let start = waiting.firstIndex(where: { $0.node == Node(side: side, item: id) }),
            let name = waiting[start...].first(where: { $0.node.side == side && $0.name != nil })?.name,
            let holder = try item(name)
        else { return }
        _ = try park(holder, on: side)
    }

    /// The level from which on a folder exists on a side.
    private mutating func entrance(to folder: ItemID, on side: Side) throws -> Arrival {
        if folder == .root { return .planned(level: 0) }
        guard let item = try item(folder) else { return .waits(.parent(folder)) }
        if let blockingAncestor = try blockingAncestor(of: item) { return .waits(.frozen(blockingAncestor)) }
        if item.location(on: side) != nil { return .planned(level: 0) }
        let isLeftover = side == .remote && item.synced == nil && item.local?.isLeftover == true
        guard item.intent == .create(side) || isLeftover else { return .waits(.parent(folder)) }
        switch try arrive(item, on: side) {
        case .planned(let level): return .planned(level: level + 1)
        case .underWay: return .underWay
        case .undone, .waits: return .waits(.parent(folder))
        }
    }

    /// Plans the operation that creates an item at a location or moves it there.
    private mutating func set(_ item: Item, to location: Location, on side: Side, at level: Int) {
        let isThere = item.location(on: side) != nil
        if item.isFolder { moves[Node(side: side, item: item.id)] = (location.parent, level) }
        switch (side, isThere, item.isFolder) {
        case (.local, false, true): build(.disk(item.id, .makeFolder(location)), at: level)
        case (.local, false, false): transfer(.disk(item.id, .download(location)))
        case (.local, true, _): build(.disk(item.id, .move(location)), at: level)
        case (.remote, false, true): build(.server(item.id, .makeFolder), at: level)
        case (.remote, false, false): transfer(.server(item.id, .upload))
        case (.remote, true, _): build(.server(item.id, .move(location)), at: level)
        }
        if side == .local { locations[item.id] = location }
        if arrivals[Node(side: .remote, item: item.id)] == .undone { return }
        switch (side, isThere) {
        case (.local, false): explain(item.id, .createdRemotely)
        case (.remote, false): explain(item.id, .createdLocally)
        case (.remote, true): explain(item.id, .movedLocally)
        case (.local, true): explain(item.id, item.isMovedLocally ? .movedBoth : .movedRemotely)
        }
    }

    /// The level from which on a folder can be moved into another without a cycle.
    private mutating func ascent(of item: Item, into folder: ItemID, on side: Side) throws -> Arrival {
        while true {
            let path = try ancestors(of: folder, on: side, after: true)
            guard let end = path.firstIndex(of: item.id) else {
                // Moves on the way are done before, so that two of one level never meet.
                let way = try path + ancestors(of: folder, on: side, after: false)
                let before = way.compactMap { moves[Node(side: side, item: $0)]?.level }.max()
                return .planned(level: before.map { $0 + 1 } ?? 0)
            }
            var blocker: Blocker?
            var isFreer = false
            for id in path[..<end] where moves[Node(side: side, item: id)] == nil {
                guard let other = try self.item(id) else { continue }
                switch try motion(of: other, on: side) {
                // With another name, it moves as soon as that is decided.
                case .undone where renamed.contains(id): blocker = .parent(id)
                case nil, .undone: continue
                // A rename alone leaves it in its folder.
                case .planned: isFreer = moves[Node(side: side, item: id)] != nil || isFreer
                case .waits: blocker = .parent(id)
                case .underWay:
                    try breakCircle(at: id, on: side)
                    return .waits(.parent(id))
                }
            }
            if isFreer { continue }
            if let blocker { return .waits(blocker) }
            guard side == .remote else { return .waits(.parent(folder)) }
            explain(item.id, .cycle)
            return .undone
        }
    }

    /// A folder and those above it on a side, without the root; `after` the plan is carried out or before.
    private mutating func ancestors(of folder: ItemID, on side: Side, after: Bool) throws -> [ItemID] {
        var path: [ItemID] = []
        var next = folder
        while next != .root, !path.contains(next) {
            path.append(next)
            if after, let move = moves[Node(side: side, item: next)] {
                next = move.folder
            } else if let item = try item(next), let location = item.location(on: side) ?? item.location(on: side.other)
            {
                next = location.parent
            } else {
                break
            }
        }
        return path
    }
}
