extension PlannerDraft {
    /// How an item comes to the place that the other side has for it.
    enum Arrival: Hashable {
        /// It is being decided; whoever finds that waits for itself.
        case underWay
        /// It is there after this level.
        case planned(level: Int)
        /// It cannot come; the disk's place gives way.
        case undone
        /// Something else has to happen first.
        case waits(Blocker)
    }

    /// Decides how an item comes to its place, and tells why.
    mutating func come(_ item: Item, on side: Side) throws {
        switch try arrive(item, on: side) {
        case .planned, .underWay: break
        case .waits(let blocker): block(item.id, blocker)
        case .undone:
            // A name that clashed has been given up already; a move that would make a cycle goes back.
            guard item.remote != nil, !renamed.contains(item.id) else { return }
            if case .waits(let blocker) = try arrive(item, on: .local) { block(item.id, blocker) }
        }
    }

    /// Plans the arrival of an item on a side, once.
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
        if let freezer = try freezer(of: item) { return .waits(.frozen(freezer)) }
        guard let place = item.place(on: side.other) else { return .waits(.parent(item.id)) }
        var level = 0
        switch try entrance(to: place.parent, on: side) {
        case .planned(let above): level = above
        case .underWay:
            try breakCircle(at: place.parent, on: side)
            return .waits(.parent(place.parent))
        case let other: return other
        }
        let canLieInItself = item.isFolder && item.place(on: side) != nil
        let folderIsThere = try self.item(place.parent)?.place(on: side) != nil || place.parent == .root
        if canLieInItself {
            switch try ascent(of: item, into: place.parent, on: side) {
            case .planned(let after): level = max(level, after)
            case let other: return other
            }
        }
        let spot = Spot(side: side, folder: place.parent, key: place.name.key)
        if let holder = claims[spot], holder != item.id { return try clash(item, at: place, with: holder, on: side) }
        if folderIsThere {
            for holder in try view.children(of: place.parent, key: place.name.key, on: side) where holder.id != item.id
            {
                waiting[waiting.count - 1].name = holder.id
                switch try departure(of: holder, from: side) {
                case .leaves(let before): level = max(level, before + 1)
                case .later: return .waits(.name(holder.id))
                case .stays: return try clash(item, at: place, with: holder.id, on: side)
                case .waitsForItself: level = max(level, try stepAside(holder, on: side) + 1)
                }
            }
            waiting[waiting.count - 1].name = nil
        }
        // Somebody may have taken the name while others were being decided.
        if let holder = claims[spot], holder != item.id { return .waits(.name(holder)) }
        if canLieInItself {
            // So may the folders above have moved.
            switch try ascent(of: item, into: place.parent, on: side) {
            case .planned(let after): level = max(level, after)
            case let other: return other
            }
        }
        if let aside = asides[Node(side: side, item: item.id)] { level = max(level, aside + 1) }
        claims[spot] = item.id
        set(item, to: place, on: side, at: level)
        return .planned(level: level)
    }

    /// Ends a circle of items that wait for each other: one whose name is waited for goes aside.
    private mutating func breakCircle(at id: ItemID, on side: Side) throws {
        guard let start = waiting.firstIndex(where: { $0.node == Node(side: side, item: id) }),
            let name = waiting[start...].first(where: { $0.node.side == side && $0.name != nil })?.name,
            let holder = try item(name)
        else { return }
        _ = try stepAside(holder, on: side)
    }

    /// From which level on a folder can take something on a side.
    private mutating func entrance(to folder: ItemID, on side: Side) throws -> Arrival {
        if folder == .root { return .planned(level: 0) }
        guard let item = try item(folder) else { return .waits(.parent(folder)) }
        if let freezer = try freezer(of: item) { return .waits(.frozen(freezer)) }
        if item.place(on: side) != nil { return .planned(level: 0) }
        let isLeftover = side == .remote && item.synced == nil && item.local?.isLeftover == true
        guard item.intent == .create(side) || isLeftover else { return .waits(.parent(folder)) }
        switch try arrive(item, on: side) {
        case .planned(let level): return .planned(level: level + 1)
        case .underWay: return .underWay
        case .undone, .waits: return .waits(.parent(folder))
        }
    }

    /// Plans what brings an item to a place.
    private mutating func set(_ item: Item, to place: Place, on side: Side, at level: Int) {
        let isThere = item.place(on: side) != nil
        if item.isFolder { moves[Node(side: side, item: item.id)] = (place.parent, level) }
        switch (side, isThere, item.isFolder) {
        case (.local, false, true): build(.makeFolder(item.id, place), at: level)
        case (.local, false, false): transfer(.download(item.id, place))
        case (.local, true, _): build(.moveLocal(item.id, place), at: level)
        case (.remote, false, true): build(.makeRemoteFolder(item.id), at: level)
        case (.remote, false, false): transfer(.upload(item.id))
        case (.remote, true, _): build(.moveRemote(item.id, place), at: level)
        }
        if side == .local { places[item.id] = place }
        if arrivals[Node(side: .remote, item: item.id)] == .undone { return }
        switch (side, isThere) {
        case (.local, false): explain(item.id, .createdRemotely)
        case (.remote, false): explain(item.id, .createdLocally)
        case (.remote, true): explain(item.id, .movedLocally)
        case (.local, true): explain(item.id, item.isMovedLocally ? .movedBoth : .movedRemotely)
        }
    }

    /// From which level on a folder can move into another on its side without coming to lie in itself.
    private mutating func ascent(of item: Item, into folder: ItemID, on side: Side) throws -> Arrival {
        while true {
            let path = try ancestors(of: folder, on: side, after: true)
            guard let end = path.firstIndex(of: item.id) else {
                // Moves on the way are done before, so that those of one level never meet.
                let way = try path + ancestors(of: folder, on: side, after: false)
                let before = way.compactMap { moves[Node(side: side, item: $0)]?.level }.max()
                return .planned(level: before.map { $0 + 1 } ?? 0)
            }
            var blocker: Blocker?
            var isFreer = false
            for id in path[..<end] where moves[Node(side: side, item: id)] == nil {
                guard let other = try self.item(id) else { continue }
                switch try motion(of: other, on: side) {
                // With another name, it moves as soon as that is known.
                case .undone where renamed.contains(id): blocker = .parent(id)
                case nil, .undone: continue
                // Another name alone leaves it where it is.
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
            } else if let item = try item(next), let place = item.place(on: side) ?? item.place(on: side.other) {
                next = place.parent
            } else {
                break
            }
        }
        return path
    }
}
