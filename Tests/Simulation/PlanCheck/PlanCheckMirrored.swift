import TestSupport

@testable import ByteClubSync

extension PlanCheckCase {
    /// The case with disk and server exchanged; nil when one of them has what the other cannot have.
    var mirrored: PlanCheckCase? {
        let isPlain =
            roughRounds == 0 && lateChanges == 0 && !world.composes && world.unread.isEmpty && world.unreported.isEmpty
        guard isPlain else { return nil }
        var copy = self
        for item in world.trees.items {
            if item.isExcluded || item.isFrozen || item.local?.isLeftover == true { return nil }
            if let location = item.local?.location,
                world.trees.children(of: location.parent, key: location.name.key, on: .local).count > 1
            {
                return nil
            }
            var other = Item(item.id)
            other.base = item.synced
            other.local = item.remote.map { LocalState(location: $0.location, isFolder: $0.isFolder, hash: $0.hash) }
            other.remote = item.local.map {
                RemoteState(
                    location: $0.location, isFolder: $0.isFolder, hash: $0.hash,
                    revision: .number($0.hash == item.synced?.hash ? 1 : 2))
            }
            copy.world.trees[item.id] = other
        }
        return copy
    }
}

extension MemoryTrees {
    /// The first item that is elsewhere on disk, or has another content, than in other trees.
    func difference(from other: MemoryTrees) -> ItemID? {
        numbers.lazy.map { ItemID($0) }.first { id in
            let (mine, theirs) = (self[id]?.local, other[id]?.local)
            // The disk keeps its own composition of a name.
            return mine?.location.parent != theirs?.location.parent
                || mine?.location.name.text != theirs?.location.name.text
                || mine?.hash != theirs?.hash
        }
    }
}
