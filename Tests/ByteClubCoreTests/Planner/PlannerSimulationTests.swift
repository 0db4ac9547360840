import ByteClubCore
import Glibc
import TestSupport
import Testing

@Suite("Planner in random trees")
struct PlannerSimulationTests {
    /// More with `BYTECLUB_CASES`, others with `BYTECLUB_SEED`.
    static func setting(_ name: String, _ fallback: UInt64) -> UInt64 {
        unsafe getenv(name).flatMap { unsafe UInt64(String(cString: $0)) } ?? fallback
    }

    #if DEBUG
        static let cases = setting("BYTECLUB_CASES", 1_500)
    #else
        static let cases = setting("BYTECLUB_CASES", 25_000)
    #endif
    static let firstSeed = setting("BYTECLUB_SEED", 20_131_116)

    /// Steps of a stage in any order in which a folder comes before (or, deleted, after) what is below it.
    private static func shuffled(_ plan: Plan, _ generator: inout SeededGenerator) -> [Step] {
        let depth = { (step: Step) in step.key.string.utf8.count { $0 == UInt8(ascii: "/") } }
        let folders = plan.folders.shuffled(using: &generator).sorted { depth($0) < depth($1) }
        let deletions = plan.deletions.shuffled(using: &generator).sorted { depth($0) > depth($1) }
        return plan.adoptions.shuffled(using: &generator) + plan.conflicts.shuffled(using: &generator) + folders
            + plan.transfers.shuffled(using: &generator) + deletions
    }

    /// Carries out plans until nothing is left to do.
    private static func settle(
        _ model: inout PlannerModel, _ generator: inout SeededGenerator
    ) throws -> (rounds: Int, conflicts: [Step]) {
        var conflicts: [Step] = []
        for round in 0..<12 {
            let plan = model.plan
            if plan.isEmpty { return (round, conflicts) }
            conflicts += plan.conflicts
            for step in shuffled(plan, &generator) {
                do {
                    try model.apply(step)
                } catch let failure as PlannerModel.Failure {
                    // What was renamed as a whole in this plan is not where a deletion looks for it.
                    let isRenamed = plan.conflicts.contains { step.key.isBelow($0.key) }
                    if step.isDeletion, isRenamed { continue }
                    // A conflict copy may take the very place at which the server has something new.
                    let isTaken = plan.conflicts.contains { conflict in
                        guard case .keepBoth(_, _, let copy) = conflict else { return false }
                        return step.key == copy.key || step.key.isBelow(copy.key)
                    }
                    guard isTaken else { throw failure }
                }
            }
        }
        throw Unsettled(plan: model.plan)
    }

    private struct Unsettled: Error, CustomStringConvertible {
        let plan: Plan
        var description: String { "still to do after 12 rounds: \(plan.steps)" }
    }

    @Test("work done apart comes together: it ends, all agree, and nothing that was written is lost")
    func converges() throws {
        print("seed \(Self.firstSeed), \(Self.cases) cases")
        var mostRounds = 0
        for seed in Self.firstSeed..<(Self.firstSeed + Self.cases) {
            var perturbation = Perturbation(seed: seed)
            let start = perturbation.model()
            var model = start
            do {
                let (rounds, conflicts) = try Self.settle(&model, &perturbation.generator)
                mostRounds = max(mostRounds, rounds)
                #expect(model.isConverged, "seed \(seed): \(start)")
                #expect(model.plan.isEmpty, "seed \(seed)")
                Self.checkNothingLost(start, model, seed)
                Self.checkNothingReturns(start, model, conflicts, seed)
                Self.checkConflicts(start, conflicts, seed)
            } catch {
                Issue.record(
                    "seed \(seed): \(error)\nlocal \(start.local)\nremote \(start.remote)\nsynced \(start.synced)")
            }
        }
        #expect(mostRounds <= 6, "a few rounds are enough")
    }

    /// What one side wrote is in the trees; what nobody wrote is not.
    private static func checkNothingLost(_ start: PlannerModel, _ end: PlannerModel, _ seed: UInt64) {
        let kept = PlannerModel.contents(end.remote)
        for tree in [start.local, start.remote] {
            for (key, node) in tree.nodes {
                guard let hash = node.hash, start.synced[key]?.hash != hash else { continue }
                #expect(kept.contains(hash), "seed \(seed): the content of \(key) is lost")
            }
        }
        let known = PlannerModel.contents(start.local).union(PlannerModel.contents(start.remote))
        #expect(kept.isSubset(of: known), "seed \(seed): content from nowhere")
    }

    /// What one side deleted and the other left alone is gone.
    private static func checkNothingReturns(
        _ start: PlannerModel, _ end: PlannerModel, _ conflicts: [Step], _ seed: UInt64
    ) {
        // A folder that loses a clash is kept whole.
        if conflicts.contains(where: { if case .keepBoth(let mine, _, _) = $0 { mine.isFolder } else { false } }) {
            return
        }
        for (key, base) in start.synced.nodes where !base.isFolder {
            let (mine, theirs) = (start.local[key], start.remote[key])
            let isDeleted =
                (mine == nil && theirs.map { $0.hasSameContent(as: base) } ?? true)
                || (theirs == nil && mine.map { $0.hasSameContent(as: base) } ?? true)
            if isDeleted { #expect(end.remote[key] == nil, "seed \(seed): \(key) came back") }
        }
    }

    /// Both sides must have changed what conflicts.
    private static func checkConflicts(_ start: PlannerModel, _ conflicts: [Step], _ seed: UInt64) {
        for case .keepBoth(let mine, let theirs, _) in conflicts where !mine.isFolder && !theirs.isFolder {
            let base = start.synced[mine.path.key]
            #expect(
                base.map { !$0.hasSameContent(as: mine) } ?? true, "seed \(seed): needless conflict at \(mine.path)")
            #expect(
                base.map { !$0.hasSameContent(as: theirs) } ?? true, "seed \(seed): needless conflict at \(mine.path)")
        }
    }

    @Test("steps that fail and work that goes on meanwhile delay the end but lose nothing")
    func survivesFailures() throws {
        print("seed \(Self.firstSeed), \(Self.cases) cases")
        for seed in Self.firstSeed..<(Self.firstSeed + Self.cases) {
            var perturbation = Perturbation(seed: seed &* 31)
            var model = perturbation.model()
            for _ in 0..<3 {
                for step in Self.shuffled(model.plan, &perturbation.generator)
                where perturbation.number(below: 3) > 0 {
                    try? model.apply(step)
                }
                perturbation.disturb(&model, at: 3)
            }
            let start = model
            do {
                _ = try Self.settle(&model, &perturbation.generator)
                #expect(model.isConverged, "seed \(seed)")
                Self.checkNothingLost(start, model, seed)
            } catch {
                Issue.record(
                    "seed \(seed): \(error)\nlocal \(start.local)\nremote \(start.remote)\nsynced \(start.synced)")
            }
        }
    }

    @Test("trees cut down to what differs, with the folders above, give the same plan")
    func restricts() {
        print("seed \(Self.firstSeed), \(Self.cases) cases")
        for seed in Self.firstSeed..<(Self.firstSeed + Self.cases) {
            var perturbation = Perturbation(seed: seed &* 17)
            let model = perturbation.model()
            let all = Set(model.local.nodes.keys).union(model.remote.nodes.keys).union(model.synced.nodes.keys)
            var keys: Set<PathKey> = []
            for key in all {
                let (mine, theirs, base) = (model.local[key], model.remote[key], model.synced[key])
                if let mine, let theirs, let base, mine.hasSameContent(as: base), theirs.hasSameContent(as: base),
                    theirs.revision == base.revision
                {
                    continue
                }
                var above: PathKey? = key
                while let here = above, here != .root {
                    keys.insert(here)
                    above = here.parent
                }
            }
            let cut = { (tree: Tree) in Tree(tree.nodes.filter { keys.contains($0.key) }.map(\.value)) }
            let plan = Planner.plan(
                local: cut(model.local), remote: cut(model.remote), synced: cut(model.synced))
            #expect(plan == model.plan, "seed \(seed)")
        }
    }

    @Test("a lost memory of having agreed deletes nothing")
    func forgetsSafely() {
        for seed in Self.firstSeed..<(Self.firstSeed + Self.cases / 5) {
            var perturbation = Perturbation(seed: seed &* 7)
            var model = perturbation.model()
            model.synced = Tree()
            #expect(model.plan.deletions.isEmpty, "seed \(seed)")
        }
    }
}
