import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// Random cases for the planner, and the smallest one that still fails.
struct PlanCheck {
    /// A case that fails.
    struct Failure: CustomStringConvertible {
        /// The seed that makes the case again.
        var seed: UInt64
        var objection: String
        /// The case made smaller, and what happens in it.
        var story: [String]

        var description: String {
            (["seed \(seed): \(objection)"] + story).joined(separator: "\n")
        }
    }

    /// Tries cases with seeds from one on; the first failure, if any.
    static func failure(from seed: UInt64, count: Int) -> Failure? {
        for index in 0..<UInt64(count) {
            if let failure = failure(of: seed &+ index) { return failure }
        }
        return nil
    }

    /// Tries one case.
    static func failure(of seed: UInt64) -> Failure? {
        let test = PlanCheckCase(seed: seed)
        guard let objection = PlanCheckRun.objection(to: test) else { return nil }
        let smaller = PlanCheckSettings().shrinks ? test.shrunk() : test
        return Failure(seed: seed, objection: objection, story: smaller.picture + PlanCheckRun.story(of: smaller))
    }
}

extension PlanCheckCase {
    /// A case as small as can be that still fails.
    func shrunk() -> PlanCheckCase {
        var best = self
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for candidate in best.smaller() where PlanCheckRun.objection(to: candidate) != nil {
                best = candidate
                isSmaller = true
                break
            }
        }
        return best
    }

    /// The trees of a case, one item a line.
    var picture: [String] {
        world.trees.items.map { item in
            let local = item.local.map {
                "\($0.location.parent)/\($0.location.name) \(content($0.hash))\($0.isLeftover ? "leftover" : "")"
            }
            let remote = item.remote.map { "\($0.location.parent)/\($0.location.name) \(content($0.hash))" }
            let synced = item.synced.map { "\($0.location.parent)/\($0.location.name) \(content($0.hash))" }
            let marks = (item.isFrozen ? " frozen" : "") + (item.isExcluded ? " excluded" : "")
            return
                "\(item.id) \(item.isFolder ? "folder" : "file") L: \(local ?? "-") R: \(remote ?? "-") S: \(synced ?? "-")\(marks)"
        } + [
            "rough rounds \(roughRounds), chunk \(chunk), composes \(world.composes), late changes \(lateChanges), unreported \(world.unreported.keys.sorted())"
        ]
    }

    private func content(_ hash: ContentHash?) -> String { Content(hash).map { "c\($0.number)" } ?? "" }

    private func smaller() -> [PlanCheckCase] {
        var found: [PlanCheckCase] = []
        func add(_ change: (inout PlanCheckCase) -> Void) {
            var copy = self
            change(&copy)
            found.append(copy)
        }
        if chunk > 0 { add { $0.chunk = 0 } }
        if roughRounds > 0 { add { $0.roughRounds -= 1 } }
        if lateChanges > 0 { add { $0.lateChanges -= 1 } }
        for item in world.trees.items {
            let isParent = world.trees.items.contains {
                $0.local?.location.parent == item.id || $0.remote?.location.parent == item.id
                    || $0.synced?.location.parent == item.id
            }
            if !isParent {
                add {
                    $0.world.trees[item.id] = nil; $0.world.unread[item.id] = nil; $0.world.unreported[item.id] = nil
                }
            }
            if item.isFrozen { add { $0.world.trees.update(item.id) { $0.isFrozen = false } } }
            if item.isExcluded { add { $0.world.trees.update(item.id) { $0.isExcluded = false } } }
            if let hash = world.unreported[item.id], item.remote?.hash == nil {
                add {
                    $0.world.unreported[item.id] = nil
                    $0.world.trees.update(item.id) { $0.remote?.hash = hash }
                }
            }
            if let hash = world.unread[item.id] {
                add {
                    $0.world.unread[item.id] = nil
                    $0.world.trees.update(item.id) { $0.local?.hash = hash }
                }
            }
            guard let synced = item.synced else { continue }
            if item.isMovedLocally, isValid(synced.location, item.id, .local) {
                add { $0.world.trees.update(item.id) { $0.local?.location = synced.location } }
            }
            if item.isMovedRemotely, isValid(synced.location, item.id, .remote) {
                let location = Location(synced.location.parent, synced.remoteName ?? synced.location.name)
                add { $0.world.trees.update(item.id) { $0.remote?.location = location } }
            }
            if item.isEditedLocally, world.unread[item.id] == nil {
                add { $0.world.trees.update(item.id) { $0.local?.hash = synced.hash } }
            }
            if item.isEditedRemotely, world.unreported[item.id] == nil {
                add { $0.world.trees.update(item.id) { $0.remote?.hash = synced.hash } }
            }
        }
        return found
    }

    private func isValid(_ location: Location, _ id: ItemID, _ side: Side) -> Bool {
        (location.parent == .root || world.trees[location.parent]?.location(on: side) != nil)
            && world.trees.children(of: location.parent, key: location.name.key, on: side).allSatisfy { $0.id == id }
            && !world.trees.isBelow(location.parent, orSameAs: id, on: side)
    }
}
