import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// One case being carried out, with a pretended success of each operation, until nothing is left to do.
struct PlanCheckRun {
    var world: PretendedWorld
    private var generator: SeededGenerator
    private let chunk: Int
    /// Whether the planner's answers are doubted more than in other cases.
    private let isThorough: Bool
    /// Whether nothing was ever synced, so that nothing may be deleted.
    private let knowsNothing: Bool
    private var rules: Set<Rule> = []
    private var expected: ExpectedTrees?
    /// What happened, for people.
    private(set) var story: [String]?

    private init(_ test: PlanCheckCase, tellsStory: Bool) {
        world = test.world
        generator = SeededGenerator(seed: test.seed)
        chunk = test.chunk
        isThorough = test.seed % 4 == 0
        knowsNothing = test.lateChanges == 0 && test.world.trees.items.allSatisfy { $0.synced == nil }
        story = tellsStory ? [] : nil
    }

    /// What is wrong with the planner by this case; nil when nothing is.
    static func objection(to test: PlanCheckCase) -> String? {
        var run = PlanCheckRun(test, tellsStory: false)
        if let objection = run.objection(to: test) { return objection }
        guard run.isThorough, run.expected?.hasTie == false, let mirrored = test.mirrored else { return nil }
        var other = PlanCheckRun(mirrored, tellsStory: false)
        if let objection = other.objection(to: mirrored) { return "mirrored: " + objection }
        return run.world.trees.difference(from: other.world.trees).map { "\($0) differs when mirrored" }
    }

    /// What is wrong, if anything, and whether the decision tables leave open what has to come of it.
    static func verdict(on test: PlanCheckCase) -> (objection: String?, isOpen: Bool) {
        var run = PlanCheckRun(test, tellsStory: false)
        return (run.objection(to: test), run.expected == nil)
    }

    /// What happens in this case.
    static func story(of test: PlanCheckCase) -> [String] {
        var run = PlanCheckRun(test, tellsStory: true)
        let objection = run.objection(to: test)
        return (run.story ?? []).prefix(12) + [objection ?? "converged"]
    }

    private mutating func objection(to test: PlanCheckCase) -> String? {
        var oracle = PlanCheckOracle(world)
        let left = marked()
        if !left.isEmpty {
            if let objection = settle() { return "with marks: " + objection }
            if let objection = touched(left) { return objection }
            for (item, _) in left {
                world.trees.update(item.id) {
                    $0.isFrozen = false
                    $0.isExcluded = false
                }
            }
            oracle = PlanCheckOracle(world, after: oracle)
        }
        for _ in 0..<test.roughRounds { roughRound() }
        if test.lateChanges > 0 {
            roughRound()
            oracle.release(changeLate(test))
            oracle = PlanCheckOracle(world, after: oracle)
        }
        expected = ExpectedTrees(world)
        if let objection = settle() { return objection }
        return oracle.objection(to: world, rules: rules) ?? expected?.objection(to: world)
    }

    /// People change something while it goes on; the contents of what they change, which they may delete as well.
    private mutating func changeLate(_ test: PlanCheckCase) -> UInt64 {
        let (before, unread, unreported) = (world.trees.items, world.unread, world.unreported)
        var history = PlanCheckHistory(generator: SeededGenerator(seed: ~test.seed), content: test.content)
        for _ in 0..<test.lateChanges {
            let side = history.pick(2) == 0 ? Side.local : .remote
            history.change(&world.trees, side, composes: world.composes)
        }
        for number in world.trees.numbers {
            let id = ItemID(number)
            let item = world.trees[id]
            if item?.local == nil || item?.local?.hash != nil { world.unread[id] = nil }
            if item?.remote == nil || item?.remote?.hash != nil { world.unreported[id] = nil }
        }
        story?.append("late: \(world.trees.items)")
        return before.reduce(into: 0) { released, item in
            let now = world.trees[item.id]
            if now?.local == item.local, now?.remote == item.remote { return }
            released |= Content(unread[item.id] ?? item.local?.hash)?.bit ?? 0
            released |= Content(unreported[item.id] ?? item.remote?.hash)?.bit ?? 0
        }
    }

    // MARK: What nobody may touch

    private func marked() -> [(Item, ContentHash?)] {
        world.trees.items.filter { $0.isFrozen || $0.isExcluded }.map { ($0, world.unread[$0.id]) }
    }

    private func touched(_ left: [(Item, ContentHash?)]) -> String? {
        for (item, _) in left {
            guard let now = world.trees[item.id] else { return "\(item.id) was to be left alone" }
            let isSame =
                now.local?.hash == item.local?.hash && now.remote == item.remote
                && (now.synced == nil) == (item.synced == nil) && now.local?.location.name == item.local?.location.name
            if !isSame { return "\(item.id) was to be left alone" }
        }
        return nil
    }

    // MARK: Rounds

    /// Plans and does until nothing is left to do; what is wrong, if anything.
    private mutating func settle() -> String? {
        let limit = 4 * max(2, world.trees.numbers.count)
        for _ in 0..<limit {
            var isDone = true
            for chunk in chunks() {
                let plan = planned(chunk)
                if isThorough, plan != planned(chunk) { return "another plan for the same" }
                if knowsNothing, plan.operations.contains(where: \.isDeletion) {
                    return "a deletion of what was never synced"
                }
                if plan.batches.isEmpty && plan.unread.isEmpty { continue }
                isDone = false
                if let objection = carryOut(plan) { return objection }
                if isThorough, let objection = world.trees.objection { return objection }
            }
            if isDone { return nil }
        }
        return "no end after \(limit) rounds"
    }

    private mutating func chunks() -> [[ItemID]] {
        let dirty = isThorough ? world.trees.unsettled.shuffled(using: &generator) : world.trees.unsettled
        guard chunk > 0, dirty.count > chunk else { return [dirty] }
        return stride(from: 0, to: dirty.count, by: chunk).map {
            Array(dirty[$0..<min($0 + chunk, dirty.count)])
        }
    }

    private mutating func planned(_ dirty: [ItemID]) -> Plan {
        // Trees in memory throw nothing.
        let plan = (try? Planner.plan(dirty, in: world.trees)) ?? Plan()
        rules.formUnion(plan.rules.values)
        story?.append("plan \(plan)")
        return plan
    }

    private mutating func carryOut(_ plan: Plan) -> String? {
        for id in plan.unread where !world.read(id) { return "\(id) has been read already" }
        for batch in plan.batches {
            for operation in batch.count > 1 ? batch.shuffled(using: &generator) : batch {
                story?.append("  \(operation)")
                if !world.apply(operation) { return "impossible: \(operation)" }
            }
        }
        return nil
    }

    /// A round in which operations fail, are held back, or are done without being noted.
    private mutating func roughRound() {
        let plan = planned(world.trees.unsettled)
        let holdsDeletions = pick(4) == 0
        for id in plan.unread where pick(2) == 0 { _ = world.read(id) }
        for operation in plan.batches.flatMap({ $0.shuffled(using: &generator) }) {
            if holdsDeletions, operation.isDeletion { continue }
            if pick(3) == 0 { continue }
            let closing = pick(4) > 0
            let isDone = world.apply(operation, closing: closing)
            story?.append("  \(operation) \(isDone ? closing ? "" : "(not noted)" : "(refused)")")
        }
    }

    private mutating func pick(_ count: Int) -> Int { Int((generator.next() >> 33) % UInt64(count)) }
}
