@testable import ByteClubSync

extension MemoryTrees {
    /// What makes a side no tree of files, if anything: an entry without its folder, in itself, or under another's
    /// name.
    var objection: String? {
        for item in items {
            for side in [Side.local, .remote] {
                guard let location = item.location(on: side) else { continue }
                if location.parent != .root, self[location.parent]?.location(on: side) == nil {
                    return "\(item.id) has no folder"
                }
                if isBelow(location.parent, orSameAs: item.id, on: side) { return "\(item.id) lies in itself" }
                let sharers = children(of: location.parent, key: location.name.key, on: side).filter { other in
                    // A disk may tell letter cases apart.
                    other.id != item.id && (side == .remote || other.local?.location.name == location.name)
                }
                if !sharers.isEmpty { return "\(item.id) shares its name" }
            }
        }
        return nil
    }
}
