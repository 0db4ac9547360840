import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// Random changes to one side of the trees, as people make them.
struct PlanCheckHistory {
    static let names: [EntryName] = ["a", "b", "A", "\u{e9}", "e\u{301}"].map { EntryName($0) }

    var generator: SeededGenerator
    /// The next content that nothing has had.
    var content = 8

    /// A content: mostly a new one, sometimes one of two that others may have as well.
    mutating func newContent() -> ContentHash? {
        if pick(6) == 0 { return Content(pick(2)).hash }
        content += 1
        return Content(content).hash
    }

    mutating func pick(_ count: Int) -> Int { Int((generator.next() >> 33) % UInt64(max(1, count))) }

    /// A synced tree of up to `count` entries; their numbers say nothing about who is above whom.
    mutating func base(_ count: Int) -> MemoryTrees {
        var trees = MemoryTrees()
        var ids = (0..<count).map { _ in trees.newItem() }
        ids.shuffle(using: &generator)
        var folders: [ItemID] = [.root]
        for id in ids {
            let location = Location(folders[pick(folders.count)], Self.names[pick(pick(2) == 0 ? 5 : 3)])
            guard trees.children(of: location.parent, key: location.name.key, on: .remote).isEmpty else { continue }
            let isFolder = pick(2) == 0
            let hash = isFolder ? nil : newContent()
            trees[id] = Item(
                id, local: LocalState(location: location, isFolder: isFolder, hash: hash),
                remote: RemoteState(location: location, isFolder: isFolder, hash: hash, revision: .number(1)),
                synced: SyncedState(location: location, isFolder: isFolder, hash: hash, revision: .number(1)))
            if isFolder { folders.append(id) }
        }
        return trees
    }

    /// One change on a side.
    mutating func change(_ trees: inout MemoryTrees, _ side: Side, composes: Bool) {
        let there = trees.numbers.map { ItemID($0) }.filter { trees[$0]?.location(on: side) != nil }
        guard !there.isEmpty, pick(5) > 0 else { return create(&trees, side, there, composes) }
        let id = there[pick(there.count)]
        guard let item = trees[id] else { return }
        switch pick(8) {
        case 0, 1:
            if item.isFolder { move(&trees, side, id, there, composes) } else { edit(&trees, side, id) }
        case 2, 3: move(&trees, side, id, there, composes)
        case 4: swap(&trees, side, id, there[pick(there.count)])
        case 5: invert(&trees, side, id)
        case 6: delete(&trees, side, id)
        default: retype(&trees, side, item)
        }
    }

    private mutating func create(_ trees: inout MemoryTrees, _ side: Side, _ there: [ItemID], _ composes: Bool) {
        let location = newLocation(trees, side, there, composes)
        guard isFree(trees, location, side, nil) else { return }
        make(&trees, side, location, isFolder: pick(2) == 0)
    }

    private mutating func make(_ trees: inout MemoryTrees, _ side: Side, _ location: Location, isFolder: Bool) {
        let id = trees.newItem()
        let hash = isFolder ? nil : newContent()
        var item = Item(id)
        if side == .local {
            item.local = LocalState(location: location, isFolder: isFolder, hash: hash)
        } else {
            item.remote = RemoteState(location: location, isFolder: isFolder, hash: hash, revision: .number(1))
        }
        trees[id] = item
    }

    private mutating func newLocation(
        _ trees: MemoryTrees, _ side: Side, _ there: [ItemID], _ composes: Bool
    ) -> Location {
        let folders = [ItemID.root] + there.filter { trees[$0]?.isFolder == true }
        var name = Self.names[pick(pick(2) == 0 ? 5 : 3)]
        if composes, side == .remote { name = EntryName(PretendedWorld.composed(name.text)) }
        return Location(folders[pick(folders.count)], name)
    }

    /// The disk tells letter cases apart, the server does not.
    private func isFree(_ trees: MemoryTrees, _ location: Location, _ side: Side, _ id: ItemID?) -> Bool {
        trees.children(of: location.parent, key: location.name.key, on: side).allSatisfy {
            $0.id == id || side == .local && $0.local?.location.name != location.name
        }
    }

    private mutating func edit(_ trees: inout MemoryTrees, _ side: Side, _ id: ItemID) {
        let hash = newContent()
        trees.update(id) {
            if side == .local {
                $0.local?.hash = hash
            } else {
                $0.remote?.hash = hash
                $0.remote?.revision?.advance()
            }
        }
    }

    private mutating func move(
        _ trees: inout MemoryTrees, _ side: Side, _ id: ItemID, _ there: [ItemID], _ composes: Bool
    ) {
        let location = newLocation(trees, side, there, composes)
        guard isFree(trees, location, side, id), !trees.isBelow(location.parent, orSameAs: id, on: side) else { return }
        put(&trees, side, id, location)
    }

    private func put(_ trees: inout MemoryTrees, _ side: Side, _ id: ItemID, _ location: Location) {
        trees.update(id) {
            if side == .local { $0.local?.location = location } else { $0.remote?.location = location }
        }
    }

    private func swap(_ trees: inout MemoryTrees, _ side: Side, _ one: ItemID, _ other: ItemID) {
        guard one != other, let first = trees[one]?.location(on: side), let second = trees[other]?.location(on: side),
            !trees.isBelow(one, orSameAs: other, on: side), !trees.isBelow(other, orSameAs: one, on: side)
        else { return }
        put(&trees, side, one, second)
        put(&trees, side, other, first)
    }

    /// Turns a folder and the one in it around: `a/b` becomes `b/a` or, with the same names, the other way in.
    private mutating func invert(_ trees: inout MemoryTrees, _ side: Side, _ id: ItemID) {
        guard let inner = trees[id], inner.isFolder, let below = inner.location(on: side), below.parent != .root,
            let above = trees[below.parent]?.location(on: side)
        else { return }
        let keepsNames = pick(2) == 0
        let outer = Location(above.parent, keepsNames ? above.name : below.name)
        let lower = Location(id, keepsNames ? below.name : above.name)
        guard isFree(trees, outer, side, below.parent), isFree(trees, lower, side, below.parent) else { return }
        put(&trees, side, id, outer)
        put(&trees, side, below.parent, lower)
    }

    private func delete(_ trees: inout MemoryTrees, _ side: Side, _ id: ItemID) {
        for number in trees.numbers {
            let one = ItemID(number)
            guard one != id, trees[one]?.location(on: side)?.parent == id else { continue }
            delete(&trees, side, one)
        }
        trees.update(id) {
            if side == .local { $0.local = nil } else { $0.remote = nil }
        }
    }

    private mutating func retype(_ trees: inout MemoryTrees, _ side: Side, _ item: Item) {
        guard let location = item.location(on: side) else { return }
        delete(&trees, side, item.id)
        make(&trees, side, location, isFolder: pick(4) == 0 ? item.isFolder : !item.isFolder)
    }
}
