extension PlannerDraft {
    /// Whether an item gives its name free on a side.
    enum Departure {
        /// It is gone after this level.
        case leaves(level: Int)
        /// It goes, but not by this plan, or that is not known yet.
        case later
        /// It keeps the name.
        case stays
        /// It goes as soon as the one has come that waits for it.
        case waitsForItself
    }

    /// Finds out whether the one who has a name on a side gives it free.
    mutating func departure(of holder: Item, from side: Side) throws -> Departure {
        if holder.isExcluded { return side == .remote ? .stays : .later }
        if try freezer(of: holder) != nil { return .later }
        let node = Node(side: side, item: holder.id)
        if let aside = asides[node] { return .leaves(level: aside) }
        let answer = try intendedDeparture(of: holder, from: side)
        // To find out may have put it aside.
        if case .later = answer, let aside = asides[node] { return .leaves(level: aside) }
        return answer
    }

    private mutating func intendedDeparture(of holder: Item, from side: Side) throws -> Departure {
        switch holder.intent {
        case .delete(side):
            return try fate(of: holder, on: side) == .waitsForItself ? .waitsForItself : .later
        case .merge(nil, _): return .stays
        // The server's place wins.
        case .merge(.local, _) where side == .remote, .create(.local): return .stays
        case .merge, .create:
            switch try motion(of: holder, on: side) {
            case .planned(let level): return .leaves(level: level)
            case .underWay: return .waitsForItself
            // With another name, it leaves as soon as that is known.
            case .undone: return renamed.contains(holder.id) ? .later : .stays
            case .waits, nil: return .later
            }
        case .settled: return .stays
        case .forget, .keep, .read, .delete: return .later
        }
    }

    /// How an item moves on a side; nil when it does not.
    mutating func motion(of item: Item, on side: Side) throws -> Arrival? {
        if try freezer(of: item) != nil { return nil }
        switch item.intent {
        case .merge(side, _): return try arrive(item, on: side)
        case .merge(.remote, _), .create(.remote):
            // On disk, it moves only when it cannot have its place on the server.
            guard side == .local, try arrive(item, on: .remote) == .undone else { return nil }
            if renamed.contains(item.id) { return .planned(level: 0) }
            return item.remote == nil ? nil : try arrive(item, on: .local)
        default: return nil
        }
    }

    /// Moves an item out of the way under a name of its own, and tells at which level.
    mutating func stepAside(_ item: Item, on side: Side) throws -> Int {
        let node = Node(side: side, item: item.id)
        if let level = asides[node] { return level }
        asides[node] = 0
        guard let place = item.place(on: side) else { return 0 }
        let name = try freeName(in: place.parent, for: item.id) {
            PlannerAside.name(for: place.name.text, of: item.id, number: $0)
        }
        let aside = Place(place.parent, name)
        claims[Spot(side: side, folder: aside.parent, key: aside.name.key)] = item.id
        switch side {
        case .local:
            places[item.id] = aside
            build(.moveLocal(item.id, aside), at: 0)
        case .remote: build(.moveRemote(item.id, aside), at: 0)
        }
        return 0
    }
}
