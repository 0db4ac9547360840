import ByteClubCore

extension PlannerDraft {
    /// Decides what becomes of an item whose place somebody else has and keeps.
    ///
    /// The server's entry keeps the name: the other becomes one with it, or is renamed on disk.
    mutating func clash(_ item: Item, at place: Place, with holder: ItemID, on side: Side) throws -> Arrival {
        guard let other = try self.item(holder) else { return .waits(.name(holder)) }
        if side == .local {
            // Nobody else decides about a folder that is only there for what is in it.
            if other.isLeftover, claims[spot(of: other)] == nil { try giveUp(other, name: place.name, to: item) }
            return .waits(.name(holder))
        }
        if let blocker = try giveUp(item, name: place.name, to: other) { return .waits(blocker) }
        return .undone
    }

    /// Unifies an entry of the disk with the server's, or renames it; what it waits for instead of a new name, if anything.
    @discardableResult
    private mutating func giveUp(_ item: Item, name: EntryName, to other: Item) throws -> Blocker? {
        guard let local = item.local, !unified.contains(item.id) else { return .name(other.id) }
        if renamed.contains(item.id) { return nil }
        if local.isFolder ? false : local.hash == nil {
            read(item.id)
            return .name(other.id)
        }
        if isOne(local, item, other) {
            unified.formUnion([item.id, other.id])
            unify(item.id, other.id)
            return .name(other.id)
        }
        let free = try freeName(in: local.place.parent, for: item.id) {
            ConflictName.name(for: local.place.name.text, loser: local.hash, number: $0)
        }
        let place = Place(local.place.parent, free)
        for side in [Side.local, .remote] { claims[Spot(side: side, folder: place.parent, key: free.key)] = item.id }
        places[item.id] = place
        renamed.insert(item.id)
        build(.moveLocal(item.id, place), at: 0)
        explain(item.id, .nameClash)
        return nil
    }

    /// Whether an entry only the disk has and one only the server has are the same but for their identity.
    private func isOne(_ local: LocalState, _ item: Item, _ other: Item) -> Bool {
        guard item.remote == nil, item.synced == nil, !other.isExcluded, other.intent == .create(.local),
            let remote = other.remote, !unified.contains(other.id)
        else { return false }
        return local.isFolder == remote.isFolder && (local.isFolder || local.hash == remote.hash)
    }

    private func spot(of leftover: Item) -> Spot {
        Spot(
            side: .remote, folder: leftover.local?.place.parent ?? .root, key: leftover.local?.place.name.key ?? "")
    }

    /// The first of a series of names that nobody has in a folder on either side.
    mutating func freeName(in folder: ItemID, for item: ItemID, _ name: (Int) -> String) throws -> EntryName {
        var number = 1
        while true {
            let candidate = EntryName(name(number))
            if try isFree(candidate, in: folder, for: item) { return candidate }
            number += 1
        }
    }

    /// Whether nobody else has a name in a folder on either side.
    func isFree(_ name: EntryName, in folder: ItemID, for item: ItemID) throws -> Bool {
        for side in [Side.local, .remote] {
            if let holder = claims[Spot(side: side, folder: folder, key: name.key)], holder != item { return false }
            for holder in try view.children(of: folder, key: name.key, on: side) where holder.id != item {
                return false
            }
        }
        return true
    }
}

extension Item {
    /// Whether it is a folder that is only on disk for what is in it.
    var isLeftover: Bool { remote == nil && synced == nil && local?.isLeftover == true }
}
