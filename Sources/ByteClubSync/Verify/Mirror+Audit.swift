import ByteClubCore

extension Mirror {
    /// How many bytes are read at a time, and the pause after them: 8 MiB a second at most.
    private static var auditedBytes: Int { 256 << 10 }
    private static var auditPause: Duration { .milliseconds(31) }

    /// Reads the next files and compares them with what was synced; begins anew after the last one.
    ///
    /// A file that was written to without the engine's notice is looked at by the next cycle, as any edit. One whose bytes
    /// are other ones though neither its times nor its length tell of a write is a problem that people are told of: it is
    /// not sent, since more likely than anybody's edit is that the disk has lost the bytes, and the server has them.
    ///
    /// - Returns: Whether folders are to be looked at.
    func audit(files count: Int) async throws -> Bool {
        if try pausedUntil() != nil { return false }
        let last = try auditProgress().last
        let items = try store.synced(after: last, limit: max(1, count))
        for item in items {
            try await audit(item)
            try change { $0.last = item.id }
        }
        if items.isEmpty, last != nil {
            try change { $0.last = nil }
            try store.log(
                LogRecord(
                    at: seconds, path: "", event: "audit", rule: nil, detail: "every file was read once more"))
        }
        return !suspects.isEmpty
    }

    /// How long to wait before so many files are read, when all are to be read in a time.
    func auditStep(in period: Duration) throws -> (pause: Duration, files: Int) {
        let share = period / Double(max(1, try store.syncedCount()))
        let pause = min(max(share, .seconds(60)), .seconds(900))
        return (pause, max(1, Int((pause / share).rounded(.up))))
    }

    private func audit(_ item: Item) async throws {
        guard item.isSettled, !item.isExcluded, !item.isFrozen, !item.isFolder, let local = item.local,
            let expected = local.hash, let known = local.look, !known.isRacy
        else { return }
        let found: ContentHash?
        do {
            guard let folder = try folder(local.place.parent) else { return }
            let file = try folder.open(local.place.name.text)
            if file.isBeingWritten { return }
            guard try file.look().isUntouched(since: known) else { return try suspect(local.place.parent) }
            do {
                found = try await Self.slowHash(file, surroundings.sleep)
            } catch let error as FileError where !error.isMissing {
                return try await judge(item, local, nil, error.reason)
            }
            guard try file.look().isUntouched(since: known) else { return try suspect(local.place.parent) }
        } catch let error as FileError {
            if error.isMissing { try suspect(local.place.parent) }
            return
        }
        try await judge(item, local, found == expected ? expected : nil, nil)
    }

    /// Has a folder looked at, whatever its seal says.
    private func suspect(_ folder: ItemID) throws {
        try store.setSeal(nil, of: folder)
        suspects.insert(folder)
    }

    /// Notes what came of reading a file, unless the tree has gone on since.
    private func judge(_ item: Item, _ local: LocalState, _ found: ContentHash?, _ reason: String?) async throws {
        guard let now = try store.item(item.id), now.isSettled, now.local == local, let look = local.look else {
            return
        }
        let path = try shownPath(of: item.id)
        if found != nil {
            try forget(item.id)
            return
        }
        let message =
            reason.map { "the file cannot be read: \($0)" }
            ?? "the bytes on this disk are not those that were synced, though nothing tells that the file was written to: "
            + "the disk may be failing; the server has the right ones, and 'touch' sends these instead"
        let finding = AuditProgress.Finding(
            item: item.id, handle: look.handle, modified: look.fingerprint.modified, path: path)
        if try auditProgress().findings.contains(finding) { return }
        try forget(item.id)
        try change { $0.set(finding, of: item.id) }
        try store.setProblem(Problem(path: path, item: nil, message: message, isFromScan: false), path: path)
        try log(.problem, path, message)
        tally.noteOnce(SyncEvent(.problem, path: path, message: message))
    }

    private func forget(_ item: ItemID) throws {
        guard try auditProgress().findings.contains(where: { $0.item == item }) else { return }
        var old: AuditProgress.Finding?
        try change { old = $0.set(nil, of: item) }
        if let old { try store.setProblem(nil, path: old.path) }
    }

    /// Forgets what was found of files that have been written to, replaced or deleted since; what was moved is told under
    /// its new path.
    func reviewFindings() throws {
        for finding in try auditProgress().findings {
            let item = try store.item(finding.item)
            let isSame =
                item?.local?.look.map { $0.handle == finding.handle && $0.fingerprint.modified == finding.modified }
                ?? false
            guard isSame, item?.isEditedLocally == false else {
                try forget(finding.item)
                continue
            }
            let path = try shownPath(of: finding.item)
            if path.utf8.elementsEqual(finding.path.utf8) { continue }
            let problem = try store.problems().first { $0.path == finding.path }
            try store.setProblem(nil, path: finding.path)
            var moved = finding
            moved.path = path
            try change { $0.set(moved, of: finding.item) }
            if var problem {
                problem.path = path
                try store.setProblem(problem, path: path)
            }
        }
    }

    private func auditProgress() throws -> AuditProgress {
        if let known = audited { return known }
        let read = AuditProgress(try store.meta(.audit))
        audited = read
        return read
    }

    private func change(_ change: (inout AuditProgress) -> Void) throws {
        var progress = try auditProgress()
        change(&progress)
        if progress == audited { return }
        try store.setMeta(.audit, progress.text.isEmpty ? nil : progress.text)
        audited = progress
    }

    /// The hash of a file's content, read with pauses and away from the engine's own thread.
    @concurrent private static func slowHash(
        _ file: any DiskFile, _ sleep: @Sendable (Duration) async throws -> Void
    ) async throws -> ContentHash {
        var hasher = ContentHasher()
        var buffer = [UInt8](repeating: 0, count: auditedBytes)
        var offset: Int64 = 0
        while true {
            let count = try file.read(into: &buffer, at: offset)
            hasher.update(count == buffer.count ? buffer : Array(buffer[..<count]))
            if count < buffer.count { return hasher.finalize() }
            offset += Int64(count)
            try await sleep(auditPause)
        }
    }
}
