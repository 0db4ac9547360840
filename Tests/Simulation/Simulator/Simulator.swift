import TestSupport

/// Runs simulations by their seeds, and shortens the story of one that fails.
package enum Simulator {
    /// One seed's faults with the shortest story that was found for them; nil when nothing is wrong.
    package static func failure(_ seed: UInt64) -> String? {
        let settings = SimulationSettings.random(seed)
        let first = Simulation(settings).run()
        if first.faults.isEmpty { return nil }
        let (skipped, last) = PlanCheckSettings().shrinks ? shrink(settings, first) : ([], first)
        return """
            seed \(seed): \(last.faults.joined(separator: "; "))
            \(settings), without actions \(skipped.sorted())
            \(last.story.joined(separator: "\n"))
            """
    }

    /// Whether a seed runs the same twice.
    package static func isDeterministic(_ seed: UInt64) -> Bool {
        let settings = SimulationSettings.random(seed)
        let (one, two) = (Simulation(settings).run(), Simulation(settings).run())
        return one.trace == two.trace && one.story == two.story
    }

    private static func shrink(
        _ settings: SimulationSettings, _ first: SimulationResult
    ) -> (Set<Int>, SimulationResult) {
        var skipped: Set<Int> = []
        var last = first
        var size = max(1, settings.actions / 2)
        while size >= 1 {
            var start = 0
            while start < settings.actions {
                let more = skipped.union(start..<min(start + size, settings.actions))
                if more.count > skipped.count {
                    let result = Simulation(settings, skipping: more).run()
                    if !result.faults.isEmpty { (skipped, last) = (more, result) }
                }
                start += size
            }
            size /= 2
        }
        return (skipped, last)
    }
}
