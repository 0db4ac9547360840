import ByteClubCore
import SyncSimulation
import TestSupport
import Testing

@Suite struct GitMergeTests {
    /// A text with some random changes of its lines.
    private static func edited(_ text: [UInt8], mark: String, using generator: inout SeededGenerator) -> [UInt8] {
        var lines = text.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
        for number in 0..<Int.random(in: 1...3, using: &generator) {
            let start = Int.random(in: 0..<lines.count, using: &generator)
            let end = min(lines.count, start + Int.random(in: 0...2, using: &generator))
            let new = (0..<Int.random(in: 0...2, using: &generator)).map { Array("\(mark) \(number).\($0)".utf8) }
            lines.replaceSubrange(start..<end, with: new)
            if lines.isEmpty { lines = [[]] }
        }
        return Array(lines.joined(separator: [10]))
    }

    @Test("what git merges is merged, and to the same text", .enabled(if: Program.system("git") != nil, "needs git"))
    func git() async throws {
        let git = try #require(Program.system("git"))
        let directory = try TemporaryDirectory()
        let seed: UInt64 = 0x6172
        var generator = SeededGenerator(seed: seed)
        var (clean, ours, same) = (0, 0, 0)
        for number in 0..<300 {
            let repeats = number % 3 == 0 ? 0.1 : 0
            let one = MergeCase(repeats: repeats, using: &generator)
            let theirs =
                number % 2 == 0 ? one.theirs : Self.edited(one.base, mark: "theirs", using: &generator)
            let versions = [("mine", one.mine), ("base", one.base), ("theirs", theirs)]
            for (name, bytes) in versions { try LocalFiles.write(bytes, to: directory.path + "/" + name) }
            let result = try await Program.run(
                git, ["merge-file", "-p", "mine", "base", "theirs"], directory: directory.path)
            let merged = TextMerge.merge(base: one.base, mine: one.mine, theirs: theirs)
            if merged != nil { ours += 1 }
            guard result.status == 0 else { continue }
            clean += 1
            if merged == result.output { same += 1 }
            if repeats == 0 { #expect(merged == result.output, "seed \(seed), case \(number)") }
            #expect(merged != nil, "seed \(seed), case \(number)")
        }
        print("seed \(seed): of 300 cases git merges \(clean), we \(ours); \(same) of git's to the same text")
        #expect(clean > 100)
    }
}
