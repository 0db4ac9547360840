import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// Each pair of histories of up to two changes, on disk and on the server, held against the decision tables.
struct SmallScope {
    /// What has been tried.
    struct Tally: Sendable {
        /// Pairs of different trees.
        var cases = 0
        /// Those for which the tables leave something open; only what holds always was checked.
        var open = 0
        /// How many went wrong.
        var failed = 0
        /// What went wrong, if anything: the first stories.
        var failures: [String] = []

        /// Both together.
        static func + (one: Tally, other: Tally) -> Tally {
            Tally(
                cases: one.cases + other.cases, open: one.open + other.open, failed: one.failed + other.failed,
                failures: one.failures + other.failures)
        }
    }

    private static let names = ["a", "b", "c"].map { EntryName($0) }

    private let histories: SmallHistories
    private let locals: [[LocalState?]]
    private let remotes: [[RemoteState?]]

    /// Two folders with a file in each, and three names.
    static var flat: SmallScope {
        SmallScope(
            [
                entry(-1, 0, .none), entry(0, 0, .base(1)), entry(-1, 1, .none), entry(2, 0, .base(3)),
            ], names: 3)
    }

    /// A folder in a folder, a file at the bottom and one at the top, and two names.
    static var nested: SmallScope {
        SmallScope(
            [
                entry(-1, 0, .none), entry(0, 1, .none), entry(1, 0, .base(2)), entry(-1, 1, .base(3)),
            ], names: 2)
    }

    private static func entry(_ folder: Int, _ name: Int, _ content: SmallContent) -> SmallHistories.Entry {
        SmallHistories.Entry(folder: folder, name: name, isFolder: content == .none, content: content)
    }

    private init(_ base: [SmallHistories.Entry], names: Int) {
        histories = SmallHistories(base, names: names)
        locals = histories.states.map { state in
            state.enumerated().map { _, entry in
                entry.map {
                    LocalState(
                        location: Self.location($0, on: .local), isFolder: $0.isFolder,
                        hash: $0.content.content(on: .local)?.hash)
                }
            }
        }
        let base = histories.base
        remotes = histories.states.map { state in
            state.enumerated().map { index, entry in
                entry.map {
                    let isEdited = index < base.count && base[index]?.content != $0.content
                    return RemoteState(
                        location: Self.location($0, on: .remote), isFolder: $0.isFolder,
                        hash: $0.content.content(on: .remote)?.hash, revision: .number(isEdited ? 2 : 1))
                }
            }
        }
    }

    /// The numbers from one are the base's, then come two for the disk's new entries, then two for the server's.
    private static func location(_ entry: SmallHistories.Entry, on side: Side) -> Location {
        let isNew = entry.folder >= 4 && side == .remote
        return Location(ItemID(Int64(entry.folder + 1 + (isNew ? 2 : 0))), names[entry.name])
    }

    /// How many pairs of histories there are, many of which come to the same.
    var pairs: Int { histories.count * histories.count }
    /// How many trees one side can have.
    var states: Int { histories.states.count }

    /// Tries every case whose disk is one of every so many, beginning with the one at `first`.
    func tally(from first: Int, every step: Int) -> Tally {
        var tally = Tally()
        for local in stride(from: first, to: locals.count, by: step) {
            for remote in remotes.indices {
                let test = PlanCheckCase(trees(locals[local], remotes[remote]), seed: UInt64(local * 65_537 + remote))
                tally.cases += 1
                let (objection, isOpen) = PlanCheckRun.verdict(on: test)
                if isOpen { tally.open += 1 }
                guard let objection else { continue }
                tally.failed += 1
                if tally.failures.count == 3 { continue }
                let smaller = test.shrunk()
                let story = smaller.picture + PlanCheckRun.story(of: smaller)
                tally.failures.append((["case \(local), \(remote): \(objection)"] + story).joined(separator: "\n"))
            }
        }
        return tally
    }

    private func trees(_ local: [LocalState?], _ remote: [RemoteState?]) -> MemoryTrees {
        var trees = MemoryTrees()
        for index in 0..<8 {
            let id = trees.newItem()
            var item = Item(id)
            if index < 6, index < local.count { item.local = local[index] }
            if index < 4 {
                item.remote = remote[index]
            } else if index >= 6, index - 2 < remote.count {
                item.remote = remote[index - 2]
            }
            if index < 4, let synced = locals[0][index] {
                item.base = SyncedState(
                    location: synced.location, isFolder: synced.isFolder, hash: synced.hash, revision: .number(1))
            }
            trees[id] = item
        }
        return trees
    }
}
