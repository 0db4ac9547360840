import ByteClubCore
import TestSupport
import Testing

@Suite("The journal and batches, on random histories")
struct SyncSimulationTests {
    private static let seeds: ClosedRange<UInt64> = 1...40

    @Test("following the journal from anywhere, in pages of any size, ends at the tree as it is", arguments: seeds)
    func journal(seed: UInt64) throws {
        var simulation = SyncSimulation(seed: seed)
        var replicas = [SyncSimulation.Replica(), SyncSimulation.Replica(), SyncSimulation.Replica()]
        for step in 0..<120 {
            try simulation.step()
            for index in replicas.indices
            where Int.random(in: 0..<(3 << index), using: &simulation.generator) == 0 {
                let limit = Int.random(in: 1...4, using: &simulation.generator)
                _ = try replicas[index].follow(simulation.model.folder, limit: limit)
            }
            guard step % 40 == 39 else { continue }
            for index in replicas.indices {
                var pages = 0
                while try !replicas[index].follow(simulation.model.folder, limit: 1 + index) { pages += 1 }
                #expect(replicas[index].entries == simulation.truth, "seed \(seed), step \(step), client \(index)")
                #expect(replicas[index].orphans == 0, "seed \(seed), step \(step), client \(index)")
                #expect(pages <= simulation.model.state.all.count)
            }
        }
    }

    @Test("every live entry is in the folder that its identity names, and no identity is there twice", arguments: seeds)
    func identities(seed: UInt64) throws {
        var simulation = SyncSimulation(seed: seed)
        var kinds: [NodeID: Bool] = [:]
        for _ in 0..<120 {
            try simulation.step()
            let live = simulation.model.state.descendants(.root, limit: .max)
            #expect(Set(live.map(\.node)).count == live.count, "seed \(seed)")
            for entry in live {
                let parent = entry.path.key.parent.flatMap { simulation.model.state.latest($0)?.node } ?? .root
                #expect(entry.parent == parent, "seed \(seed): \(entry.path)")
                #expect(simulation.model.state.current(entry.node) == entry, "seed \(seed): \(entry.path)")
                #expect(kinds.updateValue(entry.isFolder, forKey: entry.node) ?? entry.isFolder == entry.isFolder)
                #expect(entry.change <= entry.revision && entry.node.number <= entry.placeRevision)
            }
        }
    }

    @Test("what was done answers again as it did, and is not done again", arguments: seeds)
    func replays(seed: UInt64) throws {
        var simulation = SyncSimulation(seed: seed)
        for step in 0..<120 {
            try simulation.step()
            if step % 10 == 9 { #expect(try simulation.replay(), "seed \(seed), step \(step)") }
        }
    }

    @Test("digests are equal exactly when the trees are", arguments: seeds)
    func digests(seed: UInt64) throws {
        var one = SyncSimulation(seed: seed)
        var digests: [[String]: TreeDigest] = [:]
        var trees: [TreeDigest: [String]] = [:]
        for _ in 0..<120 {
            try one.step()
            let live = one.model.state.descendants(.root, limit: .max)
            let tree = live.map { "\($0.path) \($0.contentHash?.description ?? "folder")" }
            let digest = try one.model.folder.digest(.root)
            #expect(digests.updateValue(digest.digest, forKey: tree) ?? digest.digest == digest.digest)
            #expect(trees.updateValue(tree, forKey: digest.digest) ?? tree == tree, "seed \(seed)")
            for folder in digest.folders {
                let path = try #require(one.model.state.current(folder.node)?.path)
                #expect(try one.model.folder.digest(path).digest == folder.digest)
            }
        }
        #expect(digests.count > 10)
    }

    @Test("a cursor that is malformed, ahead or of another journal is refused")
    func cursors() throws {
        #expect(JournalCursor("e") == nil)
        #expect(JournalCursor("e.1.2") == nil)
        #expect(JournalCursor("e.-1") == nil)
        #expect(JournalCursor(".1") == nil)
        #expect(JournalCursor("e.7.3.9") == JournalCursor(epoch: "e", position: 7, known: 3, end: 9))
        #expect(JournalCursor("e.7.3.9")?.description == "e.7.3.9")
        #expect(JournalCursor("e.7.-.9")?.description == "e.7.-.9" && JournalCursor("e.-.3.9") == nil)
        var model = ModelFolder()
        for number in 1...9 { try model.put("/\(number)", "1") }
        model.state.forgotten = 5
        for text in ["e.5", "e.9", "e.7.6.8", "e.3.-.5", "e.1.-.9"] {
            let cursor = try #require(JournalCursor(text))
            let (told, next, _) = try model.folder.journal(
                after: cursor, epoch: "e", limits: JournalLimits(entries: 9))
            #expect(told.first?.revision ?? 10 == cursor.position + 1 && next.description == "e.9")
        }
        for text in ["other.9", "e.10", "e.7.8.9", "e.4", "e.0", "e.8.4.9", "e.3.0.5", "e.3.-.4"] {
            let cursor = try #require(JournalCursor(text))
            do {
                _ = try model.folder.journal(after: cursor, epoch: "e", limits: JournalLimits(entries: 9))
                Issue.record("\(text) was taken")
            } catch let error as APIError {
                #expect(error.status == 410)
            }
        }
    }
}
