@testable import ByteClubSync

extension MemoryTrees {
    /// What makes a side no tree of files, if anything: an entry without its folder, in itself, or under another's name.
    var objection: String? {
        for item in items {
            for side in [Side.local, .remote] {
                guard let place = item.place(on: side) else { continue }
                if place.parent != .root, self[place.parent]?.place(on: side) == nil {
                    return "\(item.id) has no folder"
                }
                if isBelow(place.parent, orSameAs: item.id, on: side) { return "\(item.id) lies in itself" }
                let sharers = children(of: place.parent, key: place.name.key, on: side).filter { other in
                    // A disk may tell letter cases apart.
                    other.id != item.id && (side == .remote || other.local?.place.name == place.name)
                }
                if !sharers.isEmpty { return "\(item.id) shares its name" }
            }
        }
        return nil
    }
}
