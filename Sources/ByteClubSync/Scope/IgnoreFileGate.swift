import ByteClubCore

/// Decides which ignore file is in force: the one on disk, unless it exceeds the limits or is held until it is
/// approved.
final class IgnoreFileGate {
    private let context: SyncContext
    /// The held rules.
    private(set) var held: HeldRulesRecord?

    private var store: any TreeStore { context.store }

    init(_ context: SyncContext) { self.context = context }

    /// The ignore file that is in force from now on: the one on disk, or else the previous one, whose hash is given.
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
        do throws(IgnoreRules.LimitExceeded) {
            file = try Self.read(bytes, now)
        } catch {
            try settle(problem: error.message)
            return before ?? .none
        }
        // Without the text of the previous rules, nothing else could be in force.
        if let before, try isHeld(file, rules, &deletions, &report) {
            try setProblem(nil)
            return before
        }
        try settle(problem: nil)
        return file
    }

    private static func read(_ bytes: [UInt8], _ hash: String) throws(IgnoreRules.LimitExceeded) -> IgnoreFile {
        if bytes.count > IgnoreRules.maximumFileBytes {
            throw IgnoreRules.LimitExceeded(
                message: "it is larger than \(HumanSize.shown(Int64(IgnoreRules.maximumFileBytes)))")
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

    /// The bytes on disk, at most one more than the limit; none without a file.
    private func ignoreBytes() throws(FileError) -> [UInt8] {
        guard let entry = try context.root.entry(IgnoreRules.fileName), entry.kind == .file else { return [] }
        let size = min(entry.stat.fingerprint.size, Int64(IgnoreRules.maximumFileBytes))
        return try context.root.open(IgnoreRules.fileName).bytes(limit: Int(size) + 1)
    }

    /// Whether a file is held: when it came from the server and its rules would exclude more synced entries than may be
    /// deleted at once.
    ///
    /// Rules written on this machine need no approval, unless they are a copy of such a file.
    private func isHeld(
        _ file: IgnoreFile, _ rules: ScanRules, _ deletions: inout DeletionGuard, _ report: inout SyncReport
    ) throws -> Bool {
        let known = try store.records(HeldRulesRecord.self).first
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
        let held = HeldRulesRecord(hash: file.hash, entries: entries, synced: synced, since: context.seconds)
        try store.transaction(durably: false) { try store.replace([held]) }
        hold(held, &report)
        return true
    }

    /// The items that have the ignore file's name on either side.
    private func ignoreItems() throws -> [Item] {
        let key = PathKey.fold(IgnoreRules.fileName)
        return try [Side.local, .remote].flatMap { try store.children(of: .root, key: key, on: $0) }
    }

    /// Whether the server had this content of the ignore file, and it was not written here.
    private func cameFromServer(_ hash: String) throws -> Bool {
        if try store.meta(.ownRules) == hash { return false }
        return try ignoreItems().contains {
            $0.remote?.hash?.description == hash || $0.synced?.hash?.description == hash
        }
    }

    /// Records rules that were written on this machine, before they are sent.
    ///
    /// - Throws: The store's errors.
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

    private func hold(_ held: HeldRulesRecord, _ report: inout SyncReport) {
        self.held = held
        report.emitOnce(held.event)
    }

    /// Ends a hold; `problem` is the fault of the file on disk.
    private func settle(problem: String?) throws {
        held = nil
        try store.replace([HeldRulesRecord]())
        if try store.meta(.approvedRules) != nil { try store.setMeta(.approvedRules, nil) }
        try setProblem(problem)
    }

    private func setProblem(_ message: String?) throws {
        let path = IgnoreRules.fileName
        let known = try store.problems().first { $0.path == path && !$0.isFromScan && $0.item == nil }
        let line = message.map { "\($0); the previous rules apply" }
        if known?.message == line { return }
        let problem = line.map { ProblemRecord(path: path, item: nil, message: $0, isFromScan: false) }
        try store.setProblem(problem, path: path)
    }
}

extension HeldRulesRecord {
    /// The event that announces the hold.
    var event: SyncEvent { SyncEvent(.held, path: IgnoreRules.fileName, message: line) }

    /// One line for people.
    var line: String {
        "its new rules would exclude \(entries) of \(synced) synced entries, so the previous rules apply; "
            + "fix it, or see 'byteclub sync deletes review'"
    }
}

/// An ignore file as it was read.
struct IgnoreFile: Sendable {
    /// Its text; empty when there is no file.
    let text: String
    /// The hash of its bytes; empty when there are none.
    let hash: String
    /// The rules in the text.
    let rules: IgnoreRules

    /// No file.
    static let none = IgnoreFile(text: "", hash: "", rules: IgnoreRules())
}

/// Ignore rules from the server that are held until they are approved, as stored in the database.
struct HeldRulesRecord: Hashable, Sendable {
    /// The hash of the file that holds them.
    var hash: String
    /// How many synced entries they would exclude.
    var entries: Int
    /// How many entries were synced then.
    var synced: Int
    /// When they were first held, in seconds since 1970.
    var since: Int64
}
