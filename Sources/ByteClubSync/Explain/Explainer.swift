public import ByteClubCore
import CLinux
import Glibc

/// What `why` knows beside the trees.
struct ExplainerFacts {
    /// Whether an engine runs for the mirror.
    var isRunning: Bool
    /// Seconds since 1970.
    var now: Int64
    /// The mirror's ignore file; empty when there is none.
    var ignoreText: String
    /// Looks at the disk now, at a path relative to the mirror's root, which is the empty path.
    var onDisk: (String) -> DiskObservation
}

/// The entry at a path on disk now.
enum DiskObservation: Hashable {
    /// Nothing is there.
    case nothing
    /// It cannot be determined.
    case unknown
    case entry(isFolder: Bool, FileFingerprint)
}

/// Explains an entry: its state on each side, the planned operations, and the obstacles.
struct Explainer {
    let store: SQLiteTreeStore
    let facts: ExplainerFacts
    let problems: [ProblemRecord]
    let held: [HeldDeletionRecord]
    let waiting: [ItemID: WaitingItem.Reason]
    let rules: IgnoreRules
    /// The text of the rules in force.
    let ignoreText: String
    let heldRules: HeldRulesRecord?
    /// Whether the mirror that was synced before is missing now.
    let isAway: Bool

    init(_ store: SQLiteTreeStore, _ facts: ExplainerFacts) throws {
        self.store = store
        self.facts = facts
        problems = try store.problems()
        held = try store.heldDeletions()
        waiting = Dictionary(
            try store.records(WaitingItem.self).map { ($0.item, $0.reason) }, uniquingKeysWith: { $1 })
        heldRules = try store.records(HeldRulesRecord.self).first
        // Held rules, and files that exceed the limits, are not in force.
        let inForce = try store.meta(.ignoreText) ?? ""
        if heldRules == nil, let now = try? IgnoreRules(facts.ignoreText) {
            (rules, ignoreText) = (now, facts.ignoreText)
        } else {
            (rules, ignoreText) = ((try? IgnoreRules(inForce)) ?? IgnoreRules(), inForce)
        }
        isAway = try store.meta(.mirrorID) != nil && facts.onDisk(MirrorDirectory.privateName) == .nothing
    }

    /// One explanation for each entry that is or was at the path; none when it is unknown.
    func explain(_ path: String) throws -> [SyncExplanation] {
        let items = try store.items(at: path)
        var answers = try items.map { try explain($0, path) }
        if items.allSatisfy({ $0.local == nil && !$0.isExcluded && !$0.isFrozen }), items.isEmpty || isUnseen(path),
            let unknown = try explainUnknown(path)
        {
            // The server's entry with the name of a new file is explained together with that file.
            guard let first = answers.indices.first, unknown.disk != nil else { return answers + [unknown] }
            answers[first].disk = unknown.disk
            answers[first].next.insert(contentsOf: unknown.next, at: 0)
            if answers[first].state == .inSync { answers[first].state = unknown.state }
        }
        return answers
    }

    private func explain(_ item: Item, _ path: String) throws -> SyncExplanation {
        var answer = SyncExplanation(path: path)
        answer.disk = try item.local.map { local in
            SyncExplanation.Row(
                path: try store.path(of: local.location, on: .local), isFolder: local.isFolder,
                size: local.isFolder ? nil : local.size, hash: local.hash?.description,
                modified: local.isFolder ? nil : local.stat?.fingerprint.time?.date.seconds)
        }
        answer.server = try item.remote.map { remote in
            SyncExplanation.Row(
                path: try store.path(of: remote.location, on: .remote), isFolder: remote.isFolder,
                size: remote.isFolder ? nil : remote.size, hash: remote.hash?.description,
                revision: remote.revision?.description)
        }
        answer.synced = try item.synced.map { synced in
            SyncExplanation.Row(
                path: try store.path(of: synced.location, on: .local), isFolder: synced.isFolder,
                size: synced.isFolder ? nil : synced.size, hash: synced.hash?.description,
                revision: synced.revision?.description)
        }
        let chain = try store.lineage(of: item)
        if let excluded = chain.first(where: \.isExcluded) {
            answer.state = .excluded
            answer.blockers = [try exclusion(of: excluded)]
            return answer
        }
        let plan = try Planner.plan(
            ([item] + namesakes(of: item)).map(\.id).sorted(), in: store,
            naming: ConflictNaming(of: store.meta(.member)))
        answer.rule = plan.rules[item.id]?.rawValue
        answer.notes = try notes(on: item, plan)
        let unseen = try unseen(item)
        if let unseen { answer.next.append(unseen) }
        if plan.unread.contains(item.id) { answer.next.append("read it") }
        answer.next += try plan.operations.filter { $0.item == item.id }.map { operation in
            try operation.words { "'\(try store.path(of: $0, on: .local))'" }
        }
        let own = try ownObstacles(chain)
        answer.blockers = own.lines
        answer.nextAttempt = own.nextAttempt
        if item.isSettled, own.lines.isEmpty, unseen == nil, !isAway { return answer }
        var seen: Set<ItemID> = [item.id]
        answer.blockers += try planObstacles(of: item.id, plan, &seen)
        answer.blockers += try sharedObstacles()
        let isUnderWay = try transferProgress(of: item).map { answer.notes.append($0) } != nil
        answer.state = !answer.blockers.isEmpty ? .blocked : isUnderWay ? .underWay : .pending
        return answer
    }

    /// Explains an entry that is in no tree: excluded, skipped, or not scanned yet.
    private func explainUnknown(_ path: String) throws -> SyncExplanation? {
        var answer = SyncExplanation(path: path)
        let known = problems.filter { Self.isAtOrAbove($0.path, path) }
        if !isAway, case .entry(let isFolder, let found) = facts.onDisk(path) {
            answer.disk = SyncExplanation.Row(
                path: path, isFolder: isFolder, size: isFolder ? nil : found.size,
                modified: isFolder ? nil : found.time?.date.seconds)
        }
        if !known.isEmpty {
            answer.state = .blocked
            answer.blockers = known.map { line($0, for: path) }
            answer.nextAttempt = known.compactMap(\.nextAttempt).min()
            return answer
        }
        if let found = answer.disk {
            if let reason = try reasonForExclusion(path, isFolder: found.isFolder) {
                answer.state = .excluded
                answer.blockers = [reason]
            } else {
                answer.next = ["scan it: it is on disk, but no sync has seen it yet"]
                answer.blockers = try sharedObstacles()
                answer.state = answer.blockers.isEmpty ? .pending : .blocked
            }
            return answer
        }
        if let line = try deselection(of: path) {
            answer.state = .excluded
            answer.blockers = [line]
            return answer
        }
        return nil
    }

    /// Whether a path is another or a folder above it.
    static func isAtOrAbove(_ above: String, _ path: String) -> Bool {
        above.utf8.elementsEqual(path.utf8) || path.utf8.starts(with: (above + "/").utf8)
    }
}

extension SyncEngine {
    /// Explains a path relative to the mirror's root: its state on each side, the planned operations, and the
    /// obstacles.
    ///
    /// - Returns: One explanation for each entry at the path; none when it is unknown.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be read.
    public static func explain(
        _ path: String, of configuration: SyncConfiguration
    ) throws(SyncError) -> [SyncExplanation] {
        let directory = configuration.directory
        let facts = ExplainerFacts(
            isRunning: configuration.isRunning, now: WallClock.now() / 1_000_000_000,
            ignoreText: ignoreText(in: directory),
            onDisk: { DiskObservation(directory + "/" + $0) })
        if let answers = try configuration.read({ try Explainer($0, facts).explain(path) }) { return answers }
        do {
            return try Explainer(SQLiteTreeStore.scratchCopy(path: configuration.databasePath), facts).explain(path)
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    /// The mirror's ignore file; empty when there is none or it is larger than one may be.
    private static func ignoreText(in directory: String) -> String {
        let file = try? LinuxDisk(directory).openRoot().open(IgnoreRules.fileName)
        return String(decoding: (try? file?.bytes(limit: IgnoreRules.maximumFileBytes)) ?? [], as: UTF8.self)
    }
}

extension DiskObservation {
    /// Observes an absolute path.
    fileprivate init(_ path: String) {
        var status = byteclub_status()
        if unsafe byteclub_statx(AT_FDCWD, path, &status) == 0 {
            self = .entry(isFolder: status.mode & S_IFMT == S_IFDIR, FileFingerprint(status))
        } else {
            self = errno == ENOENT || errno == ENOTDIR ? .nothing : .unknown
        }
    }
}
