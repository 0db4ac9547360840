extension PlannerDraft {
    /// Whether and when an item releases its name on a side.
    enum Departure {
        /// The name is free after the batch of this level.
        case leaves(level: Int)
        /// It will be released, but not by this plan, or that is not decided yet.
        case later
        /// It keeps the name.
        case stays
        /// It is released once the item that waits for it has moved: a cycle.
        case waitsForItself
    }

    /// Determines whether the holder of a name on a side releases it.
    mutating func departure(of holder: Item, from side: Side) throws -> Departure {
        if holder.isExcluded { return side == .remote ? .stays : .later }
        if try blockingAncestor(of: holder) != nil { return .later }
        let node = Node(side: side, item: holder.id)
        if let parked = parkedLevels[node] { return .leaves(level: parked) }
        let answer = try intendedDeparture(of: holder, from: side)
        // The decision may have parked it.
        if case .later = answer, let parked = parkedLevels[node] { return .leaves(level: parked) }
        return answer
    }

    private mutating func intendedDeparture(of holder: Item, from side: Side) throws -> Departure {
        switch holder.intent {
        case .delete(side):
            return try fate(of: holder, on: side) == .waitsForItself ? .waitsForItself : .later
        case .merge(nil, _): return .stays
        // The server's location wins.
        case .merge(.local, _) where side == .remote, .create(.local): return .stays
        case .merge, .create:
            switch try motion(of: holder, on: side) {
            case .planned(let level): return .leaves(level: level)
            case .underWay: return .waitsForItself
            // With another name, it leaves as soon as that is decided.
            case .undone: return renamed.contains(holder.id) ? .later : .stays
            case .waits, nil: return .later
            }
        case .settled: return .stays
        case .forget, .keep, .read, .delete: return .later
        }
    }

    /// How an item moves on a side; nil when it does not.
    mutating func motion(of item: Item, on side: Side) throws -> Arrival? {
        if try blockingAncestor(of: item) != nil { return nil }
        switch item.intent {
        case .merge(side, _): return try arrive(item, on: side)
        case .merge(.remote, _), .create(.remote):
            // It moves on disk only when it cannot keep its location on the server.
            guard side == .local, try arrive(item, on: .remote) == .undone else { return nil }
            if renamed.contains(item.id) { return .planned(level: 0) }
            return item.remote == nil ? nil : try arrive(item, on: .local)
        default: return nil
        }
    }

    /// Plans a move to a temporary name, and returns its level.
    mutating func park(_ item: Item, on side: Side) throws -> Int {
        let node = Node(side: side, item: item.id)
        if let level = parkedLevels[node] { return level }
        parkedLevels[node] = 0
        guard let location = item.location(on: side) else { return 0 }
        let name = try freeName(in: location.parent, for: item.id) {
            TemporaryName.name(for: location.name.text, of: item.id, number: $0)
        }
        let parked = Location(location.parent, name)
        claims[Spot(side: side, folder: parked.parent, key: parked.name.key)] = item.id
        switch side {
        case .local:
            locations[item.id] = parked
            build(.disk(item.id, .move(parked)), at: 0)
        case .remote: build(.server(item.id, .move(parked)), at: 0)
        }
        return 0
    }
}
