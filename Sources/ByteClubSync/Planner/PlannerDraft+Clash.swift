import ByteClubCore

extension PlannerDraft {
    /// Resolves a clash: another item has and keeps the location of an item.
    ///
    /// The server's entry keeps the name: the other is linked to it when both are equal, or renamed on disk.
    mutating func clash(_ item: Item, at location: Location, with holder: ItemID, on side: Side) throws -> Arrival {
        guard let other = try self.item(holder) else { return .waits(.name(holder)) }
        if side == .local {
            // A leftover folder is not decided about otherwise.
            if other.isLeftover, claims[spot(of: other)] == nil { try giveUp(other, name: location.name, to: item) }
            return .waits(.name(holder))
        }
        if let blocker = try giveUp(item, name: location.name, to: other) { return .waits(blocker) }
        return .undone
    }

    /// Links an entry of the disk to the server's, or renames it; returns what blocks it, if anything.
    @discardableResult
    private mutating func giveUp(_ item: Item, name: EntryName, to other: Item) throws -> Blocker? {
        guard let local = item.local, !linked.contains(item.id) else { return .name(other.id) }
        if renamed.contains(item.id) { return nil }
        if local.isFolder ? false : local.hash == nil {
            read(item.id)
            return .name(other.id)
        }
        if isOne(local, item, other) {
            linked.formUnion([item.id, other.id])
            linkIdentity(item.id, other.id)
            return .name(other.id)
        }
        // Two machines may have called two copies the same.
        let original = ConflictName.original(of: local.location.name.text) ?? local.location.name.text
        let free = try freeName(in: local.location.parent, for: item.id, besides: [local.location.name]) {
            ConflictName.name(for: original, naming.stamp(local.stat), number: $0)
        }
        let location = Location(local.location.parent, free)
        for side in [Side.local, .remote] { claims[Spot(side: side, folder: location.parent, key: free.key)] = item.id }
        locations[item.id] = location
        renamed.insert(item.id)
        build(.disk(item.id, .move(location)), at: 0)
        explain(item.id, .nameClash)
        return nil
    }

    /// Whether a local-only entry and a remote-only entry have the same kind and content.
    private func isOne(_ local: LocalState, _ item: Item, _ other: Item) -> Bool {
        guard item.remote == nil, item.synced == nil, !other.isExcluded, other.intent == .create(.local),
            let remote = other.remote, !linked.contains(other.id)
        else { return false }
        return local.isFolder == remote.isFolder && (local.isFolder || local.hash == remote.hash)
    }

    private func spot(of leftover: Item) -> Spot {
        Spot(
            side: .remote, folder: leftover.local?.location.parent ?? .root,
            key: leftover.local?.location.name.key ?? "")
    }

    /// The first of a series of names that is free in a folder on both sides, and none of those that the item has.
    ///
    /// A long name is cut to make room, and may be cut to what it was.
    func freeName(
        in folder: ItemID, for item: ItemID, besides own: [EntryName] = [], _ name: (Int) -> String
    ) throws -> EntryName {
        var number = 1
        while true {
            let candidate = EntryName(name(number))
            if !own.contains(where: { $0.key == candidate.key }), try isFree(candidate, in: folder, for: item) {
                return candidate
            }
            number += 1
        }
    }

    /// Whether no other item has a name in a folder on either side.
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
    /// Whether it is a folder that exists on disk only because of unsynced entries in it.
    var isLeftover: Bool { remote == nil && synced == nil && local?.isLeftover == true }
}
