import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite struct TransferProgressTests {
    /// What is told of a path each time something passes.
    private final class Answers: @unchecked Sendable {
        // Invariant: one test uses it.
        var all: [SyncExplanation] = []
    }

    private static func content(_ seed: UInt64, _ size: Int) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    @Test("a large file that is being sent is on its way, with what has travelled of it")
    func upload() async throws {
        let mirror = try await FaultyMirror()
        let answers = Answers()
        mirror.disk.write("big", Self.content(1, 16 << 20))
        mirror.network.onWrite = { [unowned mirror] in
            guard $0.hasPrefix("piece"), let answer = try? mirror.why("big") else { return }
            answers.all.append(answer)
        }
        await mirror.sync()
        #expect(answers.all.count > 8 && answers.all.allSatisfy { $0.state == .underWay && $0.next == ["upload it"] })
        #expect(answers.all.first?.notes == ["less than 4 MiB of 16.0 MiB are transferred"])
        let last = try #require(answers.all.last)
        #expect(last.notes.first?.hasSuffix("of 16.0 MiB are transferred") == true)
        #expect(last.notes != answers.all[0].notes)
        #expect(try mirror.why("big")?.state == .inSync)
    }

    @Test("an upload that was stopped tells how far it came, and what it needs")
    func stopped() async throws {
        let mirror = try await FaultyMirror()
        mirror.disk.write("big", Self.content(2, 12 << 20))
        var chunks = 0
        mirror.network.passage = {
            chunks += 1
            return chunks > 24 ? .stopped : .goes
        }
        await mirror.sync()
        let answer = try #require(try mirror.why("big", isRunning: false))
        #expect(answer.state == .blocked)
        #expect(answer.blockers.last == "sync is not running; start it with 'byteclub sync'")
        #expect(answer.notes.first?.hasSuffix("were transferred when the last sync was stopped") == true, "\(answer)")
    }

    @Test("of many large files, some are on their way and the rest waits for them", arguments: [true, false])
    func queue(isUpload: Bool) async throws {
        let mirror = try await FaultyMirror()
        let names = (1...5).map { "big \($0)" }
        for (index, name) in names.enumerated() {
            let text = String(repeating: "\(index)", count: 100_000)
            if isUpload { mirror.disk.write(name, text) } else { try await mirror.write(name, text) }
        }
        let answers = Answers()
        let ask = { [unowned mirror] in
            if answers.all.isEmpty { answers.all = names.compactMap { try? mirror.why($0) } }
        }
        mirror.network.onWrite = { if $0.hasPrefix("piece") { ask() } }
        mirror.network.distort = { bytes in
            ask()
            return bytes
        }
        await mirror.sync()
        #expect(answers.all.map(\.state) == [.underWay, .underWay, .underWay, .blocked, .blocked])
        #expect(answers.all.last?.blockers == ["it is large and waits for other large files"])
        for name in names { #expect(try mirror.why(name)?.state == .inSync) }
    }
}
