import ByteClubCore

/// A file that was read for the audit.
struct AuditedFile: Sendable {
    let item: Item
    let local: LocalState
    /// The content's hash; nil when it could not be read.
    var found: ContentHash?
    /// Why it could not be read.
    var reason: String?
    /// Whether it was written or moved since the tree was updated.
    var isChanged = false
}

/// Re-reads all files slowly and repeatedly, and reports those whose bytes differ from the synced content.
///
/// A file that was written without an event is scanned like any edit. One whose bytes differ although neither times nor
/// size have changed is reported as a problem and not uploaded: it is more likely damage of the disk than an edit, and
/// the server has the right bytes.
final class Auditor {
    /// How many bytes are read at a time, and the pause after them: 8 MiB a second at most.
    private static let readBytes = 256 << 10
    private static let readPause = Duration.milliseconds(31)

    private let context: SyncContext
    /// The files to read at once, the next one last.
    private var queue: [Item] = []
    private var store: any TreeStore { context.store }

    init(_ context: SyncContext) { self.context = context }

    /// How long to wait before the next files, and how many, so that all are read within the interval.
    func step() throws -> (pause: Duration, files: Int) {
        let share = context.configuration.auditPeriod / Double(max(1, try store.syncedCount()))
        let pause = min(max(share, .seconds(60)), .seconds(900))
        return (pause, max(1, Int((pause / share).rounded(.up))))
    }

    /// Whether files are left to read at once.
    var hasNext: Bool { !queue.isEmpty }

    /// Opens the next file and gives the work that reads it, to be run in the background; nil when none is to be read
    /// now.
    ///
    /// After the last file it starts over.
    func next(_ report: inout SyncReport) throws -> (@Sendable () async -> AuditedFile)? {
        if queue.isEmpty { try fill() }
        while let item = queue.popLast() {
            if let work = try reading(item, &report) { return work }
            try setLast(item.id)
        }
        return nil
    }

    private func fill() throws {
        let last = try store.meta(.audit).flatMap { Int64($0) }.map { ItemID($0) }
        queue = try store.synced(after: last, limit: try step().files).reversed()
        guard queue.isEmpty, last != nil else { return }
        try setLast(nil)
        try store.log(
            LogRecord(
                at: context.seconds, path: "", event: "audit", rule: nil, detail: "every file was read once more"))
    }

    /// The work that reads a file; nil for one that is skipped.
    private func reading(_ item: Item, _ report: inout SyncReport) throws -> (@Sendable () async -> AuditedFile)? {
        guard let now = try store.item(item.id), now.isSettled, !now.isExcluded, !now.isFrozen, !now.isFolder,
            let local = now.local, local.hash != nil, let stat = local.stat, !stat.isRacy
        else { return nil }
        do {
            guard let folder = try context.handles.folder(local.location.parent, &report) else { return nil }
            let file = try folder.open(local.location.name.text)
            if file.isBeingWritten { return nil }
            guard try file.stat().isUntouched(since: stat) else {
                try scan(local.location.parent, &report)
                return nil
            }
            let clock = context.environment.clock
            return { @Sendable in await Self.read(AuditedFile(item: now, local: local), file, stat, clock) }
        } catch let error as FileError {
            if error.isMissing { try scan(local.location.parent, &report) }
            return nil
        }
    }

    private static func read(
        _ audited: AuditedFile, _ file: any DiskFile, _ stat: FileStat, _ clock: any SyncClock
    ) async -> AuditedFile {
        var audited = audited
        do {
            audited.found = try await slowHash(file, clock)
            audited.isChanged = try !file.stat().isUntouched(since: stat)
        } catch let error as FileError {
            if error.isMissing { audited.isChanged = true } else { audited.reason = error.reason }
        } catch {
            // The session ends: the hash is unknown.
            audited.isChanged = true
        }
        return audited
    }

    /// Requests a scan of a folder, even with an unchanged fingerprint.
    private func scan(_ folder: ItemID, _ report: inout SyncReport) throws {
        try store.setListing(nil, of: folder)
        report.rescans.insert(folder)
    }

    /// Records the result of reading a file, unless the tree has changed since.
    func judge(_ audited: AuditedFile, _ report: inout SyncReport) throws {
        let (item, local) = (audited.item, audited.local)
        try setLast(item.id)
        if audited.isChanged { return try scan(local.location.parent, &report) }
        guard let now = try store.item(item.id), now.isSettled, now.local == local, let stat = local.stat else {
            return
        }
        if audited.reason == nil, audited.found == local.hash { return try forget(item.id) }
        let path = try store.shownPath(of: item.id)
        let message =
            audited.reason.map { "the file cannot be read: \($0)" }
            ?? "the bytes on this disk are not those that were synced, but the file's times are unchanged: "
            + "the disk may be failing; the server has the right ones, 'touch' uploads these instead"
        let finding = AuditFinding(
            item: item.id, handle: stat.handle, modified: stat.fingerprint.modified, path: path)
        if try findings().contains(finding) { return }
        try store.transaction(durably: false) {
            try forget(item.id)
            try store.save(finding)
            try store.setProblem(ProblemRecord(path: path, item: nil, message: message, isFromScan: false), path: path)
            try context.log(.problem, path, message)
        }
        report.emitOnce(SyncEvent(.problem, path: path, message: message))
    }

    private func findings() throws -> [AuditFinding] { try store.records(AuditFinding.self) }

    private func setLast(_ item: ItemID?) throws { try store.setMeta(.audit, item.map { String($0.number) }) }

    private func forget(_ item: ItemID) throws {
        guard let finding = try findings().first(where: { $0.item == item }) else { return }
        try store.removeRecord(AuditFinding.self, .number(item.number))
        try store.setProblem(nil, path: finding.path)
    }

    /// Drops findings about files that were written, replaced or deleted since; moved ones are reported under their new
    /// path.
    func review() throws {
        for finding in try findings() {
            let item = try store.item(finding.item)
            let isSame =
                item?.local?.stat.map { $0.handle == finding.handle && $0.fingerprint.modified == finding.modified }
                ?? false
            guard isSame, item?.isEditedLocally == false else {
                try forget(finding.item)
                continue
            }
            let path = try store.shownPath(of: finding.item)
            if path.utf8.elementsEqual(finding.path.utf8) { continue }
            let problem = try store.problems().first { $0.path == finding.path }
            try store.setProblem(nil, path: finding.path)
            var moved = finding
            moved.path = path
            try store.save(moved)
            if var problem {
                problem.path = path
                try store.setProblem(problem, path: path)
            }
        }
    }

    /// The hash of a file's content, read with pauses.
    @concurrent private static func slowHash(_ file: any DiskFile, _ clock: any SyncClock) async throws -> ContentHash {
        var hasher = ContentHasher()
        var buffer = [UInt8](repeating: 0, count: readBytes)
        var offset: Int64 = 0
        while true {
            let count = try file.read(into: &buffer, at: offset)
            hasher.update(count == buffer.count ? buffer : Array(buffer[..<count]))
            if count < buffer.count { return hasher.finalize() }
            offset += Int64(count)
            try await clock.sleep(until: clock.now + readPause)
        }
    }
}

/// A file whose bytes have changed although its times and size have not.
struct AuditFinding: Hashable, Sendable {
    let item: ItemID
    /// The file's stat when it was read.
    let handle: FileHandle
    let modified: Int64
    /// The path under which it was reported.
    var path: String
}
