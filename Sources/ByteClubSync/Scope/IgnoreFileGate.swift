import ByteClubCore

/// Decides which ignore file holds: the one on disk, unless that holds too much or has to wait for somebody's word.
final class IgnoreFileGate {
    private let context: SyncContext
    /// Rules that wait for somebody's word.
    private(set) var held: HeldRules?

    private var store: any TreeStore { context.store }

    init(_ context: SyncContext) { self.context = context }

    /// The ignore file whose rules hold from now on: that on disk, or else the one before it, whose hash is given.
    func file(
        inForce hash: String, current: IgnoreFile, rules: ScanRules, _ deletions: inout DeletionGuard,
        _ report: inout SyncReport
    ) throws -> IgnoreFile {
        let before = try file(hash, current)
        let bytes = try ignoreBytes()
        let now = bytes.isEmpty ? "" : "\(ContentHasher.hash(bytes))"
        if let before, now == before.hash {
            try settle(problem: nil)
            return before
        }
        let file: IgnoreFile
        do throws(IgnoreRules.Excess) {
            file = try Self.read(bytes, now)
        } catch {
            try settle(problem: error.message)
            return before ?? .none
        }
        // Without the text of the rules so far there is nothing that could go on to hold.
        if let before, try isHeld(file, rules, &deletions, &report) {
            try setProblem(nil)
            return before
        }
        try settle(problem: nil)
        return file
    }

    private static func read(_ bytes: [UInt8], _ hash: String) throws(IgnoreRules.Excess) -> IgnoreFile {
        if bytes.count > IgnoreRules.maximumFileBytes {
            throw IgnoreRules.Excess(
                message: "it is larger than \(HumanSize.text(Int64(IgnoreRules.maximumFileBytes)))")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return IgnoreFile(text: text, hash: hash, rules: try IgnoreRules(text))
    }

    /// The file whose rules were applied last; nil when its text is not known.
    private func file(_ hash: String, _ current: IgnoreFile) throws -> IgnoreFile? {
        if current.hash == hash, !hash.isEmpty { return current }
        if hash.isEmpty { return IgnoreFile.none }
        guard let text = try store.meta(.ignoreText), let rules = try? IgnoreRules(text) else { return nil }
        return IgnoreFile(text: text, hash: hash, rules: rules)
    }

    /// The bytes on disk, one more than are taken at most; none without a file.
    private func ignoreBytes() throws(FileError) -> [UInt8] {
        guard let entry = try context.root.entry(IgnoreRules.fileName), entry.kind == .file else { return [] }
        let size = min(entry.look.fingerprint.size, Int64(IgnoreRules.maximumFileBytes))
        return try context.root.open(IgnoreRules.fileName).bytes(limit: Int(size) + 1)
    }

    /// Whether a file waits for somebody's word: when it came from the server and its rules would leave out more of what is
    /// in sync than may be deleted at once.
    ///
    /// Rules that somebody writes on this machine are that person's own word, unless they were made from such a file.
    private func isHeld(
        _ file: IgnoreFile, _ rules: ScanRules, _ deletions: inout DeletionGuard, _ report: inout SyncReport
    ) throws -> Bool {
        let known = try store.records(HeldRules.self).first
        if try context.configuration.approvesDeletions || store.meta(.approvedRules) == file.hash { return false }
        if let known, known.hash == file.hash {
            hold(known, &report)
            return true
        }
        if try known == nil && !cameFromServer(file.hash) { return false }
        var rules = rules
        rules.ignored = file.rules
        let entries = try ExclusionPass(store: store, rules: rules).losses()
        let isSynced = try ignoreItems().contains { $0.synced != nil }
        let synced = try store.syncedCount() - (isSynced ? 1 : 0)
        let now = context.environment.clock.now
        guard deletions.holds(entries, of: synced, at: now) else {
            deletions.count(entries, at: now)
            return false
        }
        let held = HeldRules(hash: file.hash, entries: entries, synced: synced, since: context.seconds)
        try store.transaction(durably: false) { try store.replace([held]) }
        hold(held, &report)
        return true
    }

    /// The items that have the ignore file's name on either side.
    private func ignoreItems() throws -> [Item] {
        let key = PathKey.fold(IgnoreRules.fileName)
        return try [Side.local, .remote].flatMap { try store.children(of: .root, key: key, on: $0) }
    }

    /// Whether the server has had a content of the ignore file, and nobody was seen to write that here.
    private func cameFromServer(_ hash: String) throws -> Bool {
        if try store.meta(.ownRules) == hash { return false }
        return try ignoreItems().contains {
            $0.remote?.hash?.description == hash || $0.synced?.hash?.description == hash
        }
    }

    /// Remembers rules that somebody has written here, before they are sent.
    func noteOwnRules() throws {
        let isEdited = try ignoreItems().contains { item in
            item.local.map { !$0.isFolder } ?? false && (item.synced == nil || item.isEditedLocally)
        }
        guard isEdited else { return }
        let bytes = try ignoreBytes()
        let hash = "\(ContentHasher.hash(bytes))"
        if try bytes.isEmpty || cameFromServer(hash) || store.meta(.ownRules) == hash { return }
        try store.setMeta(.ownRules, hash)
    }

    private func hold(_ held: HeldRules, _ report: inout SyncReport) {
        self.held = held
        report.emitOnce(SyncEvent(.held, path: IgnoreRules.fileName, message: held.line))
    }

    /// Nothing waits any more; `problem` tells what is wrong with the file on disk.
    private func settle(problem: String?) throws {
        held = nil
        try store.replace([HeldRules]())
        if try store.meta(.approvedRules) != nil { try store.setMeta(.approvedRules, nil) }
        try setProblem(problem)
    }

    private func setProblem(_ message: String?) throws {
        let path = IgnoreRules.fileName
        let known = try store.problems().first { $0.path == path && !$0.isFromScan && $0.item == nil }
        let line = message.map { "\($0); the rules before it hold" }
        if known?.message == line { return }
        let problem = line.map { Problem(path: path, item: nil, message: $0, isFromScan: false) }
        try store.setProblem(problem, path: path)
    }
}

extension HeldRules {
    /// One line for people.
    var line: String {
        "its new rules would leave out \(entries) of \(synced) entries that are in sync, and those before it hold; "
            + "mend it, or see 'byteclub sync deletes review'"
    }
}
