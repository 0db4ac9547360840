import ByteClubCore

@testable import ByteClubSync

/// What must hold in the end, by the trees as they were in the beginning, written down without a planner.
struct PlanCheckOracle {
    /// The contents that must be in some file.
    private var kept: UInt64 = 0
    /// The items that one side has deleted and the other left as it was.
    private var gone: [ItemID] = []
    /// The items that must still be there.
    private var stays: [ItemID] = []
    /// The items that may become one with the server's.
    private var onlyLocal: Set<ItemID> = []
    /// Where items must be unless somebody was in their way.
    private var locations: [(ItemID, Location)] = []
    /// How many items have two contents.
    private var disputes = 0
    private let initialNumbers: Range<Int64>

    /// What must hold in the end by these trees; of what was to hold `before`, that no content is lost.
    init(_ world: PretendedWorld, after before: PlanCheckOracle? = nil) {
        initialNumbers = world.trees.numbers
        kept = before?.kept ?? 0
        disputes = world.copies
        for number in world.trees.numbers {
            guard var item = world.trees[ItemID(number)] else { continue }
            if let remote = item.remote, remote.hash == nil, let hash = world.unreported[item.id] {
                // Another revision keeps what the disk has deleted, even with the old content.
                if item.local == nil, item.synced?.hash == hash, item.synced?.revision != remote.revision {
                    item.base?.hash = nil
                }
                item.remote?.hash = hash
            }
            expect(item, world.unread[item.id] ?? item.local?.hash)
        }
    }

    /// Lets contents be lost from now on.
    mutating func release(_ contents: UInt64) { kept &= ~contents }

    private mutating func expect(_ item: Item, _ hash: ContentHash?) {
        let mine = Content(hash)?.bit ?? 0
        let theirs = Content(item.remote?.hash)?.bit ?? 0
        switch (item.local, item.remote, item.synced) {
        case (nil, nil, _): gone.append(item.id)
        case (let local?, nil, nil):
            kept |= mine
            onlyLocal.insert(item.id)
            locations.append((item.id, local.location))
        case (nil, let remote?, nil):
            kept |= theirs
            stays.append(item.id)
            locations.append((item.id, remote.location))
        case (let local?, nil, let synced?):
            if hash == synced.hash, local.location == synced.location || Self.isTemporary(local.location, item) {
                gone.append(item.id)
            } else {
                kept |= mine
                onlyLocal.insert(item.id)
                locations.append((item.id, local.location))
            }
        case (nil, let remote?, let synced?):
            let isUnmoved = remote.location == Self.remoteLocation(synced) || Self.isTemporary(remote.location, item)
            if remote.hash == synced.hash, isUnmoved {
                gone.append(item.id)
            } else {
                kept |= theirs
                stays.append(item.id)
                locations.append((item.id, remote.location))
            }
        case (let local?, let remote?, let synced):
            stays.append(item.id)
            let isRemoteMoved = synced.map { remote.location != Self.remoteLocation($0) } ?? true
            let isLocalMoved = synced.map { local.location != $0.location } ?? true
            if Self.isTemporary(local.location, item) || Self.isTemporary(remote.location, item) {
                // Where it has to be is not known any more.
            } else if isRemoteMoved != isLocalMoved {
                locations.append((item.id, isRemoteMoved ? remote.location : local.location))
            } else if !isRemoteMoved {
                locations.append((item.id, local.location))
            }
            if synced == nil || hash != synced?.hash { kept |= mine }
            if synced == nil || remote.hash != synced?.hash { kept |= theirs }
            if mine == theirs { kept |= mine }
            if mine != theirs, synced == nil || hash != synced?.hash && remote.hash != synced?.hash { disputes += 1 }
        }
    }

    /// Whether it was left under a name that only the planner gives.
    private static func isTemporary(_ location: Location, _ item: Item) -> Bool {
        location.name.text.utf8.count > 8 && location.name.text.hasSuffix("(moving \(item.id.number))")
    }

    private static func remoteLocation(_ synced: SyncedState) -> Location {
        Location(synced.location.parent, synced.remoteName ?? synced.location.name)
    }

    /// What is wrong in the end, if anything; `rules` are those that fired on the way.
    func objection(to world: PretendedWorld, rules: Set<Rule>) -> String? {
        let trees = world.trees
        var found: UInt64 = 0
        for number in trees.numbers {
            guard let item = trees[ItemID(number)] else { continue }
            if let objection = inequality(item, world.serverHash(item), trees) { return objection }
            found |= Content(item.local?.hash)?.bit ?? 0
            if !initialNumbers.contains(number), world.copies == 0 { return "\(item.id) came from nowhere" }
        }
        if kept & ~found != 0 { return "lost contents \(String(kept & ~found, radix: 2))" }
        if world.copies > disputes { return "\(world.copies) conflict copies for \(disputes) disputes" }
        for id in gone {
            guard let item = trees[id], !item.isLeftover else { continue }
            // A folder that came back for an entry whose move was undone then is empty.
            let isExcused =
                !trees.children(of: id, on: .local).isEmpty || !rules.isDisjoint(with: [.nameClash, .cycle])
            if item.isFolder, isExcused { continue }
            return "\(id) came back"
        }
        for id in stays where trees[id] == nil { return "\(id) vanished" }
        for id in onlyLocal where trees[id] == nil && !rules.contains(.linked) { return "\(id) vanished" }
        if rules.isDisjoint(with: [.nameClash, .cycle, .linked]) {
            for (id, location) in locations where trees[id]?.local?.location.isSameKey(as: location) != true {
                return "\(id) is not at its place"
            }
        }
        return nil
    }

    private func inequality(_ item: Item, _ serverHash: ContentHash?, _ trees: MemoryTrees) -> String? {
        if item.isLeftover { return nil }
        guard let local = item.local, let remote = item.remote, let synced = item.synced else {
            return "\(item.id) is not everywhere"
        }
        if local.location != synced.location { return "\(item.id) is not synced where it is on disk" }
        if remote.location != Self.remoteLocation(synced) {
            return "\(item.id) is not synced where it is on the server"
        }
        if local.location.name.text != remote.location.name.text { return "\(item.id) has two names" }
        if local.hash != serverHash || local.hash != synced.hash { return "\(item.id) has several contents" }
        for side in [Side.local, .remote] {
            guard let location = item.location(on: side) else { continue }
            let sharers = trees.children(of: location.parent, key: location.name.key, on: side).filter {
                !$0.isLeftover
            }
            if sharers.count > 1 {
                return "\(item.id) shares its name"
            }
            if location.parent != .root, trees[location.parent]?.location(on: side) == nil {
                return "\(item.id) has no folder"
            }
            if trees.isBelow(location.parent, orSameAs: item.id, on: side) { return "\(item.id) lies in itself" }
        }
        return nil
    }
}
