import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// The watcher of a simulated disk: its events come late, twice or never, when the simulation wants it so.
final class SimulatedWatcher: FolderWatcher, @unchecked Sendable {
    // Invariant: a simulation runs on one thread.
    private var items: [ObjectIdentifier: ItemID] = [:]
    private var nodes: [ItemID: SimulatedNode] = [:]
    /// Events that are on their way.
    private var late: [DiskChange] = []
    private var random: SeededGenerator
    private let inbox: SyncInbox
    /// How likely an event comes late, twice, or not at all, 0 to 1.
    private let faults: Double
    let problem: String? = nil

    init(_ inbox: SyncInbox, faults: Double, seed: UInt64) {
        self.inbox = inbox
        self.faults = faults
        random = SeededGenerator(seed: seed)
    }

    func add(_ folder: any DiskFolder, _ item: ItemID, isNew: Bool) {
        guard let folder = folder as? SimulatedFolder, isNew || nodes[item] == nil else { return }
        if let old = nodes[item] { items[ObjectIdentifier(old)] = nil }
        if let other = items[ObjectIdentifier(folder.node)], other != item { nodes[other] = nil }
        nodes[item] = folder.node
        items[ObjectIdentifier(folder.node)] = item
    }

    func remove(_ gone: [ItemID]) {
        for item in gone { if let node = nodes.removeValue(forKey: item) { items[ObjectIdentifier(node)] = nil } }
    }

    func unwatched(of folders: Set<ItemID>) -> Set<ItemID> { [] }

    /// Takes a change of the disk.
    func note(_ change: SimulatedDisk.Change) {
        guard let item = items[ObjectIdentifier(change.folder)] else { return }
        var posted = DiskChange()
        switch change.kind {
        case .created, .movedIn:
            if change.isFolder {
                posted.finished = [item]
            } else if change.kind == .movedIn {
                posted.closed = [item: [EntryName(change.name)]]
            } else {
                posted.begun = [item]
            }
        case .closed: posted.closed = [item: [EntryName(change.name)]]
        case .gone: posted.begun = [item]
        }
        guard faults > 0, Double.random(in: 0..<1, using: &random) < faults else { return inbox.post(.disk(posted)) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: late.append(posted)
        case 1:
            inbox.post(.disk(posted))
            late.append(posted)
        case 2: inbox.post(.disk(DiskChange(isLost: true)))
        default: break
        }
    }

    /// Tells what is late.
    func deliver() {
        for change in late { inbox.post(.disk(change)) }
        late = []
    }
}
