import SyncSimulation
import Testing

/// `BYTECLUB_CASES` says how many cases there are, `BYTECLUB_SEED` which.
@Suite struct MergeSimulationTests {
    private static let cases = Int(Settings.environment("BYTECLUB_CASES") ?? "")
    private static let seed = UInt64(Settings.environment("BYTECLUB_SEED") ?? "") ?? 0xB17E

    /// Where lines repeat, an edit may be told in more than one way, and no merge can know which was meant.
    @Test(
        "edits with a line between them always merge, to the text with all of them",
        arguments: zip([0, 0.05, 0.3, 0.9], [0, 0.001, 0.02, 0.1]))
    func disjoint(repeats: Double, tolerance: Double) {
        let cases = min(Self.cases ?? .max, repeats == 0 ? 1_000_000 : 20_000)
        let start = ContinuousClock.now
        let result = MergeSimulation(cases: cases, repeats: repeats, seed: Self.seed)
        let rate = Double(result.cases) / ((ContinuousClock.now - start) / .seconds(1))
        print(
            "seed \(Self.seed), repeated lines \(repeats): \(result.cases) cases, \(result.conflicts) conflicts,",
            "\(result.others) other texts, \(result.unstable) unstable, \(result.broken) broken,",
            "\(Int(rate)) cases a second")
        let most = Int(Double(result.cases) * tolerance)
        #expect(result.broken == 0, "\(result.examples)")
        #expect(result.conflicts <= most && result.others <= most && result.unstable <= most, "\(result.examples)")
    }
}
