import ByteClubCore
import Glibc

@testable import ByteClubSync

/// A disk in memory, for the simulator: its clock, its users and its failures are in the test's hands.
///
/// It is for one thread at a time, and tells the same for the same calls.
final class SimulatedDisk: Disk, @unchecked Sendable {
    // Invariant: a simulation runs on one thread.

    /// An open file that goes when nobody has it any more.
    struct WeakFile {
        weak var file: SimulatedFile?
    }

    /// What the engine is about to do.
    struct Call {
        enum Verb: String, Hashable {
            case openRoot, stat, list, fingerprint, entry, openFolder, makeFolder, removeFolder, open, create,
                removeFile
            case rename, syncFolder, syncFileSystem, room, fileSystem, statFile, read, write, setTime, setMode, syncFile

            /// Whether a full disk may refuse it.
            var takesRoom: Bool { [.makeFolder, .create, .rename, .write, .syncFile].contains(self) }
            /// Whether it changes what a reader finds on the disk.
            var isChange: Bool {
                [.makeFolder, .removeFolder, .create, .removeFile, .rename, .write, .setTime, .setMode].contains(self)
            }
            /// Whether what it gives stays open.
            var opens: Bool { [.openRoot, .openFolder, .open, .create].contains(self) }
            /// Whether it leaves all as it is.
            var isRead: Bool { !isChange && ![.syncFolder, .syncFileSystem, .syncFile].contains(self) }
        }

        let verb: Verb
        /// The number of the call since the disk was made, from 0.
        let index: Int
        /// Where, relative to the root.
        let path: String
    }

    /// A change of a folder.
    struct Change {
        enum Kind: Hashable {
            case created, movedIn, gone
            /// A file in it was closed after a write.
            case closed
        }

        let kind: Kind
        let folder: SimulatedNode
        let name: String
        /// Whether what came is a folder itself.
        let isFolder: Bool
    }

    /// What is under the root's path.
    enum Mount: Hashable {
        case mounted
        /// The empty folder that is there when the file system is not mounted.
        case empty
        /// Nothing.
        case missing
    }

    /// The time of day in nanoseconds since 1970; each call of the engine takes ``callTime``.
    var time: Int64 = 1_700_000_000_000_000_000
    /// How long a call takes, in nanoseconds.
    var callTime: Int64 = 10_000
    /// How far apart two stamps are at least: the kernel's tick of 4 ms, or whole seconds for a coarse file system.
    var granularity: Int64 = 4_000_000
    /// Whether a name finds an entry whose name has the same key.
    var foldsCase = false
    /// Names that it takes for one though their keys differ, as those do that know more of letters than we.
    var takesForOne: Set<String> = []
    /// Whether two entries change places in one step; otherwise in three, as where the system cannot exchange.
    var canExchange = true
    /// Whether it can be told who has a file open for writing.
    var knowsWriters = true
    var mount = Mount.mounted
    /// Whether its folders and open files have paths, by which others than the engine write to them and read them.
    var hasPaths = false
    /// The open files by their paths.
    var paths: [String: WeakFile] = [:]
    /// How many files were opened.
    var opened = 0
    /// Bytes that may still be written.
    var space: Int64 = 1 << 40
    /// How many files and folders the engine may have open at once.
    var descriptors = Int.max
    /// How often there were too many.
    private(set) var exhaustions = 0
    /// How many it has open.
    var open = 0
    /// What identifies the file system.
    var identity = "simulated"
    /// Is called before each call of the engine; users may act in it.
    var before: ((Call) -> Void)?
    /// Errors to come, by the number of the call.
    var failures: [Int: Int32] = [:]
    /// Decides about an error for a call, after ``failures``.
    var failure: ((Call) -> Int32?)?
    /// Told of each change of a folder, whoever makes it, as a watcher of the folder would be.
    var onChange: ((Change) -> Void)?
    /// How many calls the engine has made.
    private(set) var calls = 0
    /// How many of them may have changed what a reader finds.
    private(set) var changes = 0
    /// How often the machine has crashed; what was open before cannot be used after.
    private(set) var epoch = 0

    var root: SimulatedNode
    private let emptyRoot: SimulatedNode
    var journal = SimulatedJournal()
    private var generations: [Int64: Int64] = [:]
    /// Numbers that are free, with the step that freed each.
    private var free: [(number: Int64, step: Int)] = []
    private var highest: Int64 = 2

    init() {
        root = SimulatedNode(number: 2, generation: 1, kind: .folder, at: 1_699_999_999_123_456_789)
        emptyRoot = SimulatedNode(number: 2, generation: 7, kind: .folder, at: 1_600_000_000_123_456_789)
        (root.links, emptyRoot.links) = (1, 1)
    }

    func openRoot() throws(FileError) -> any DiskFolder {
        try enter(.openRoot, nil, "")
        switch mount {
        case .mounted: return SimulatedFolder(self, root)
        case .empty: return SimulatedFolder(self, emptyRoot)
        case .missing: throw FileError(operation: "open", path: "", code: ENOENT)
        }
    }

    func now() -> Int64 { time }

    /// Lets the call with this number fail, counted from the next one.
    func fail(nextCall offset: Int, _ code: Int32) { failures[calls + offset] = code }

    /// What stamps a change now.
    var stamp: Int64 {
        let tick = time / granularity * granularity
        // A file system that counts in nanoseconds stamps with the tick's odd time.
        return granularity % 1_000_000_000 == 0 ? tick : tick + 137
    }

    /// Counts a call, lets users act before it, and fails it when that is due.
    func enter(_ verb: Call.Verb, _ node: SimulatedNode?, _ name: String, epoch: Int? = nil) throws(FileError) {
        let folder = node.map(path) ?? ""
        let call = Call(verb: verb, index: calls, path: name.isEmpty ? folder : LocalPath.join(folder, name))
        calls += 1
        if verb.isChange { changes += 1 }
        time += callTime
        before?(call)
        if let epoch, epoch != self.epoch { throw FileError(operation: verb.rawValue, path: call.path, code: EIO) }
        if let code = failures[call.index] ?? failure?(call) {
            throw FileError(operation: verb.rawValue, path: call.path, code: code)
        }
        if verb.opens, open >= descriptors {
            exhaustions += 1
            throw FileError(operation: verb.rawValue, path: call.path, code: EMFILE)
        }
    }

    /// Where a folder is, relative to the root.
    func path(_ node: SimulatedNode) -> String {
        var names: [String] = []
        var current = node
        while let above = current.parent {
            names.append(above.entries.first { $0.node === current }?.name.text ?? "?")
            current = above
        }
        return names.reversed().joined(separator: "/")
    }

    /// The file system's name for a file.
    func stat(_ node: SimulatedNode) -> FileStat {
        let fingerprint = FileFingerprint(
            device: 1, inode: node.number, size: node.kind == .folder ? 4096 : Int64(node.content.count),
            modified: node.modified, changed: node.changed)
        return FileStat(
            handle: FileHandle(high: UInt64(node.generation), low: UInt64(node.number)), fingerprint: fingerprint,
            isRacy: fingerprint.isRacy(at: time), isExecutable: node.kind == .file ? node.isExecutable : nil)
    }

    // MARK: Changes

    /// Makes a file or folder, with the number that was freed last.
    func make(_ kind: DiskKind, _ name: EntryName, in folder: SimulatedNode, isDecodable: Bool = true) -> SimulatedNode
    {
        let reused = free.popLast()
        if reused == nil { highest += 1 }
        let number = reused?.number ?? highest
        let generation = generations[number, default: 0] + 1
        generations[number] = generation
        let node = SimulatedNode(number: number, generation: generation, kind: kind, at: stamp)
        node.links = 1
        if kind == .folder { node.parent = folder }
        edit(
            [.init(folder: folder, name: name, node: node, removed: nil, isDecodable: isDecodable)],
            after: reused?.step)
        return node
    }

    /// Takes an entry away.
    func remove(_ index: Int, from folder: SimulatedNode) {
        let entry = folder.entries[index]
        let step = edit([.init(folder: folder, name: entry.name, node: nil, removed: entry.node)])
        drop(entry.node, step)
    }

    /// Gives a file another name, over whatever is there.
    func move(_ index: Int, of folder: SimulatedNode, to target: SimulatedNode, _ name: EntryName) {
        let entry = folder.entries[index]
        let replaced = target.index(name, foldsCase: foldsCase).map { target.entries[$0] }
        if let replaced, replaced.node === entry.node, entry.name == name { return }
        var edits = [SimulatedJournal.Edit(folder: folder, name: entry.name, node: nil, removed: nil)]
        if let replaced, replaced.node !== entry.node, replaced.name != name {
            edits.append(.init(folder: target, name: replaced.name, node: nil, removed: replaced.node))
        }
        let removed = replaced.flatMap { $0.node === entry.node ? nil : $0.node }
        edits.append(
            .init(folder: target, name: name, node: entry.node, removed: removed, isDecodable: entry.isDecodable))
        let step = edit(edits, moves: true)
        entry.node.changed = stamp
        if entry.node.kind == .folder { entry.node.parent = target }
        if let removed { drop(removed, step) }
    }

    /// Lets two entries change places.
    func exchange(_ index: Int, of folder: SimulatedNode, with other: Int, of target: SimulatedNode) {
        let (first, second) = (folder.entries[index], target.entries[other])
        _ = edit(
            [
                .init(folder: folder, name: first.name, node: second.node, removed: nil),
                .init(folder: target, name: second.name, node: first.node, removed: nil),
            ], moves: true)
        for (node, parent) in [(first.node, target), (second.node, folder)] {
            node.changed = stamp
            if node.kind == .folder { node.parent = parent }
        }
    }

    /// Gives a file one more name.
    func link(_ node: SimulatedNode, _ name: EntryName, in folder: SimulatedNode) {
        node.links += 1
        node.changed = stamp
        edit([.init(folder: folder, name: name, node: node, removed: nil)])
    }

    /// Puts content into a file.
    func fill(_ node: SimulatedNode, _ content: [UInt8]) {
        node.content = content
        node.isContentDurable = false
        (node.modified, node.changed) = (stamp, stamp)
    }

    @discardableResult
    private func edit(_ edits: [SimulatedJournal.Edit], after: Int? = nil, moves: Bool = false) -> Int {
        for edit in edits {
            SimulatedNode.put(edit.node, edit.name, isDecodable: edit.isDecodable, into: &edit.folder.entries)
            (edit.folder.modified, edit.folder.changed) = (stamp, stamp)
        }
        let step = journal.add(edits, after: after)
        for edit in edits {
            let kind: Change.Kind = edit.node == nil ? .gone : moves ? .movedIn : .created
            notify(kind, edit.folder, edit.name.text, isFolder: edit.node?.kind == .folder)
        }
        return step
    }

    /// Tells a watcher what has happened in a folder.
    func notify(_ kind: Change.Kind, _ folder: SimulatedNode, _ name: String, isFolder: Bool = false) {
        onChange?(Change(kind: kind, folder: folder, name: name, isFolder: isFolder))
    }

    private func drop(_ node: SimulatedNode, _ step: Int) {
        node.links -= 1
        node.changed = stamp
        if node.links == 0 { free.append((node.number, step)) }
    }

    /// Starts anew with what is on the disk.
    func restart(with numbers: Set<Int64>) {
        epoch += 1
        free = (3...max(3, highest)).filter { !numbers.contains($0) }.reversed().map { ($0, 0) }
        highest = max(3, highest)
    }
}
