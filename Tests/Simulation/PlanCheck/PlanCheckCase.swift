import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// One case: trees as they may be found, and what goes wrong on the way.
struct PlanCheckCase: Sendable {
    var world = PretendedWorld()
    /// The seed of everything that happens while it runs.
    var seed: UInt64 = 0
    /// How many rounds have failures.
    var roughRounds = 0
    /// How many items are planned for at once; 0 for all.
    var chunk = 0
    /// How many changes people make after the first round.
    var lateChanges = 0
    /// The content from which on none has been used.
    var content = 40

    /// A case of trees as they are, in which nothing goes wrong on the way.
    init(_ trees: MemoryTrees, seed: UInt64) {
        world.trees = trees
        self.seed = seed
    }

    /// The case of a seed.
    init(seed: UInt64) {
        var history = PlanCheckHistory(generator: SeededGenerator(seed: seed))
        world.composes = history.pick(4) == 0
        world.trees = history.base(1 + history.pick(6))
        if world.composes { compose() }
        for side in [Side.local, .remote] {
            for _ in 0..<history.pick(4) { history.change(&world.trees, side, composes: world.composes) }
        }
        if history.pick(4) == 0 { mark(&history) }
        if history.pick(3) == 0 { roughRounds = 1 + history.pick(4) }
        if history.pick(4) == 0 { chunk = 1 + history.pick(3) }
        if history.pick(4) == 0 { lateChanges = 1 + history.pick(3) }
        if history.pick(8) == 0 { hideHashes() }
        content = history.content
        self.seed = history.generator.next()
    }

    /// Lets the server have composed the names of what is synced.
    private mutating func compose() {
        for number in world.trees.numbers {
            world.trees.update(ItemID(number)) { item in
                guard let location = item.remote?.location else { return }
                let name = EntryName(PretendedWorld.composed(location.name.text))
                item.remote?.location = Location(location.parent, name)
                if name != location.name { item.base?.remoteName = name }
            }
        }
    }

    /// Lets the server send no hashes.
    private mutating func hideHashes() {
        for number in world.trees.numbers {
            let id = ItemID(number)
            guard let hash = world.trees[id]?.remote?.hash else { continue }
            world.unreported[id] = hash
            world.trees.update(id) { $0.remote?.hash = nil }
        }
    }

    /// Marks some items as excluded, frozen, leftover, unread or never synced.
    private mutating func mark(_ history: inout PlanCheckHistory) {
        let losesAll = history.pick(6) == 0
        for number in world.trees.numbers {
            let id = ItemID(number)
            guard let item = world.trees[id] else { continue }
            if losesAll {
                world.trees.update(id) { $0.base = nil }
                continue
            }
            switch history.pick(12) {
            case 0: world.trees.update(id) { $0.isExcluded = true }
            case 1: world.trees.update(id) { $0.isFrozen = true }
            case 2:
                guard item.isFolder, item.remote == nil, item.local != nil else { continue }
                world.trees.update(id) {
                    $0.base = nil
                    $0.local?.isLeftover = true
                }
            case 3:
                guard let hash = item.local?.hash else { continue }
                world.unread[id] = hash
                world.trees.update(id) { $0.local?.hash = nil }
            case 4: world.trees.update(id) { $0.base = nil }
            default: continue
            }
        }
    }
}
