import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// A row of the planner's table: some entries, and what is decided about them, as lines of text.
///
/// The lines are the operations in their order, then what must be read, then what waits. Where the first line starts
/// with `1.`, each operation has the number of its batch before it; operations of one batch are done in any order.
struct PlannerRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let plan: [String]
    /// The rules that decided, by name.
    let rules: [String]
    private let entries: [PlannerEntry]
    private var asked: [String] = []

    init(_ description: String, _ entries: PlannerEntry..., plan: String..., because rules: String...) {
        testDescription = description
        self.entries = entries
        self.plan = plan
        self.rules = rules
    }

    static func file(_ path: String) -> PlannerEntry { PlannerEntry(path, isFolder: false) }

    static func folder(_ path: String) -> PlannerEntry { PlannerEntry(path, isFolder: true) }

    /// The same row with the planner asked about these entries alone, instead of all that are not settled.
    func asking(_ names: String...) -> Self {
        var row = self
        row.asked = names
        return row
    }

    /// What the planner decides, told as a row tells it.
    func decided() throws -> (plan: [String], rules: [String]) {
        var trees = MemoryTrees()
        var ids: [String: ItemID] = [:]
        // The first entry has the number 1, the next one 2, and so on.
        for entry in entries { ids[entry.name] = trees.newItem() }
        for entry in entries {
            let id = try #require(ids[entry.name])
            trees[id] = try Self.item(id, entry, ids)
        }
        let asked = try asked.map { try #require(ids[$0]) }
        let decided = try Planner.plan(asked.isEmpty ? trees.unsettled : asked, in: trees)
        let rules = entries.compactMap { entry in
            ids[entry.name].flatMap { decided.rules[$0] }.map { "\(entry.name): \($0.rawValue)" }
        }
        return (lines(of: decided), rules)
    }

    // MARK: The trees

    private static func item(_ id: ItemID, _ entry: PlannerEntry, _ ids: [String: ItemID]) throws -> Item {
        func hash(_ version: PlannerEntry.Version) -> ContentHash? {
            entry.isFolder ? nil : version.content.flatMap { ContentHash(String(repeating: $0, count: 64)) }
        }
        let local = try entry.disk.map {
            LocalState(
                location: try location($0.path, ids), isFolder: entry.isFolder, hash: hash($0),
                isLeftover: entry.isLeftover)
        }
        let remote = try entry.server.map {
            RemoteState(
                location: try location($0.path, ids), isFolder: entry.isFolder, hash: hash($0),
                revision: .number($0.revision))
        }
        let synced = try entry.base.map {
            SyncedState(
                location: try location($0.path, ids), remoteName: entry.serverSpelling.map { EntryName($0) },
                isFolder: entry.isFolder, hash: hash($0), revision: .number($0.revision))
        }
        var item = Item(id, local: local, remote: remote, synced: synced)
        item.isExcluded = entry.isExcluded
        item.isFrozen = entry.isFrozen
        return item
    }

    private static func location(_ path: String, _ ids: [String: ItemID]) throws -> Location {
        guard let slash = path.lastIndex(of: "/") else { return Location(.root, EntryName(path)) }
        let folder = String(path[..<slash])
        return Location(
            try #require(ids[folder], "no entry is called \(folder)"),
            EntryName(String(path[path.index(after: slash)...])))
    }

    // MARK: The text

    private func lines(of decided: Plan) -> [String] {
        let isNumbered = plan.first?.hasPrefix("1. ") == true
        var lines: [String] = decided.batches.enumerated().flatMap { number, batch in
            batch.map { (isNumbered ? "\(number + 1). " : "") + text(of: $0) }
        }
        lines += decided.unread.map { "\(name($0)): read" }
        lines += decided.blocked.sorted { $0.key < $1.key }.map { text(of: $0.key, waitingFor: $0.value) }
        return lines.isEmpty ? ["nothing"] : lines
    }

    private func text(of operation: PlannedOperation) -> String {
        let item = operation.item
        let what =
            switch operation {
            case .note(_, .adopt): "adopt"
            case .note(_, .forget): "forget"
            case .note(_, .resurrect): "cancel the deletion"
            case .note(_, .linkIdentity(let remote)): "link to \(name(remote))"
            case .disk(_, .makeFolder(let location)): "make on disk" + suffix(" at ", location, of: item)
            case .disk(_, .move(let location)): "move on disk to \(path(location))"
            case .disk(_, .download(let location)): "download" + suffix(" to ", location, of: item)
            case .disk(_, .trash): "trash"
            case .disk(_, .resolveContent(let copy)): "resolve, copy '\(copy)'"
            case .server(_, .makeFolder): "make on server"
            case .server(_, .upload): "upload"
            case .server(_, .move(let location)): "move on server to \(path(location))"
            case .server(_, .delete): "delete on server"
            }
        return "\(name(item)): \(what)"
    }

    private func text(of item: ItemID, waitingFor blocker: Blocker) -> String {
        switch blocker {
        case .parent(let folder): "\(name(item)) waits for folder \(name(folder))"
        case .name(let holder): "\(name(item)) waits for the name of \(name(holder))"
        case .contents(let inner): "\(name(item)) waits for \(name(inner)) in it"
        case .frozen(item): "\(name(item)) is frozen"
        case .frozen(let above): "\(name(item)) is frozen by \(name(above))"
        }
    }

    /// A place, unless it is the entry's own path.
    private func suffix(_ word: String, _ location: Location, of item: ItemID) -> String {
        let path = path(location)
        return entry(item)?.path == path ? "" : word + path
    }

    private func path(_ location: Location) -> String {
        location.parent == .root ? location.name.text : "\(name(location.parent))/\(location.name)"
    }

    private func name(_ item: ItemID) -> String { entry(item)?.name ?? "\(item)" }

    private func entry(_ item: ItemID) -> PlannerEntry? {
        let index = Int(item.number) - 1
        return entries.indices.contains(index) ? entries[index] : nil
    }
}
