import ByteClubCore
import Testing

@testable import ByteClubSync

@Suite struct RetryTableTests {
    private let item = ItemID(1)
    private let start = SyncInstant(sinceStart: .zero)

    /// How long the item waits after each of these outcomes, with its folder changed right after each.
    private func waits(after outcomes: [ItemOutcome]) -> [Duration] {
        var table = RetryTable()
        return outcomes.map { outcome in
            _ = table.note(outcome, of: item, at: start)
            table.attend([item])
            return table.next.map { $0 - start } ?? .zero
        }
    }

    @Test("a file that is being written is retried whenever its folder changes")
    func written() {
        #expect(waits(after: Array(repeating: .beingWritten, count: 9)) == Array(repeating: .zero, count: 9))
    }

    @Test("a large file that is sent in vain again and again waits longer each time, whatever happens in its folder")
    func inVain() {
        let waits = waits(after: Array(repeating: .changedMeanwhile, count: 9))
        #expect(waits == [0, 0, 8, 16, 32, 60, 60, 60, 60].map { .seconds($0) })
    }

    @Test("earlier refusals of an item that the feed has reported do not count")
    func reported() {
        var table = RetryTable()
        let refusal = ItemOutcome.refused("no", .passing)
        for _ in 0..<2 { #expect(table.note(refusal, of: item, at: start) == nil) }
        #expect(!table.reported([ItemID(2)]) && table.reported([ItemID(2), item]) && !table.reported([item]))
        for _ in 0..<2 { #expect(table.note(refusal, of: item, at: start) == nil) }
        #expect(table.note(refusal, of: item, at: start) == .seconds(8))
    }

    @Test("that a file could be hashed is no end of its waits; that its content is stored is one")
    func readable() {
        let vain = [ItemOutcome](repeating: .changedMeanwhile, count: 3)
        #expect(waits(after: vain + [.readable, .changedMeanwhile]).last == .seconds(16))
        var table = RetryTable()
        for outcome in vain { _ = table.note(outcome, of: item, at: start) }
        table.forget { $0 == item }
        #expect(table.note(.changedMeanwhile, of: item, at: start) == nil)
        #expect(table.next == start + .seconds(2))
    }
}
