import ByteClubCore
import TestSupport

/// Random writes of both kinds on one folder, and clients that follow its journal.
struct SyncSimulation {
    /// What a client has made of the journal.
    struct Replica {
        var entries: [NodeID: SyncEntry] = [:]
        var cursor: JournalCursor?
        private var fresh: [NodeID: SyncEntry]?
        /// The live entries that were told before their folders.
        var orphans = 0

        /// Takes one page of at most `limit` entries; false when there is more.
        mutating func follow(_ folder: SharedFolder, limit: Int) throws -> Bool {
            let (told, next, hasMore) = try folder.journal(
                after: cursor, epoch: "e", limits: JournalLimits(entries: limit))
            if cursor == nil { fresh = [:] }
            for entry in told {
                var known = fresh ?? entries
                if entry.isDeleted {
                    known[entry.node] = nil
                } else {
                    if entry.parent != .root, known[entry.parent] == nil { orphans += 1 }
                    known[entry.node] = SyncSimulation.told(entry)
                }
                if fresh != nil { fresh = known } else { entries = known }
            }
            cursor = next
            if !hasMore, let whole = fresh { (entries, fresh) = (whole, nil) }
            return !hasMore
        }
    }

    var generator: SeededGenerator
    var model = ModelFolder()
    private var batches = RandomBatches()
    private var sent: [(SyncOperation, SyncResult)] = []

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func path() throws -> RemotePath {
        let depth = Int.random(in: 1...3, using: &generator)
        return try RemotePath((0..<depth).map { _ in RandomBatches.name(using: &generator) }.joined(separator: "/"))
    }

    /// A change as an old client makes it, or a batch.
    mutating func step() throws {
        let (one, two, number) = (try path(), try path(), Int64.random(in: 1...60, using: &generator))
        let text = "\(number % 5)"
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: _ = try? model.put(one.string, text)
        case 1: _ = try? model.change { try $0.createFolder(one) }
        case 2: _ = try? model.change { try $0.delete(one, seen: nil) }
        case 3: _ = try? model.change { try $0.move(one, to: two) }
        case 4: _ = try? model.change { try $0.copy(one, to: two) }
        case 5: _ = try? model.change { try $0.restore(one, to: JournalRevision(number: number)) }
        default: try batch()
        }
    }

    private mutating func batch() throws {
        let nodes = [NodeID.root] + model.state.all.suffix(40).map(\.node)
        let batch = try batches.next(on: model.state, nodes: nodes, using: &generator)
        var folder = model.folder
        do {
            let outcome = try folder.apply(batch)
            model.state = folder.state as? ModelFolderState ?? model.state
            sent += zip(batch.operations, outcome.results).filter(\.1.isDone)
        } catch is BatchRefused {}
    }

    /// Sends again what was done, and tells whether each answered as it did, and nothing has changed.
    mutating func replay() throws -> Bool {
        let before = model.state.all.count
        for (operation, result) in sent.shuffled(using: &generator).prefix(5) {
            var folder = model.folder
            let again = try folder.apply(SyncBatch([operation]))
            model.state = folder.state as? ModelFolderState ?? model.state
            if again.results != [result] { return false }
        }
        return model.state.all.count == before
    }

    /// The live entries as they are.
    var truth: [NodeID: SyncEntry] {
        Dictionary(
            uniqueKeysWithValues: model.state.descendants(.root, limit: .max).map { ($0.node, Self.told($0)) })
    }

    /// An entry without what changes with the folders above it, which is not told.
    private static func told(_ entry: FolderEntry) -> SyncEntry {
        var told = SyncEntry(entry)
        told.sequence = 0
        return told
    }
}
