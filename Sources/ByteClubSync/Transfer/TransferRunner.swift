import ByteClubCore
import Synchronization

/// The result of a large file's transfer.
enum TransferResult: Sendable {
    case hashed(OpenedFile, LargeContent)
    case uploaded(LargeUpload, UploadResult)
    /// The content is in its folder in staging, or in `bytes` where staging has no path; `hash` is the one that the
    /// server sent.
    case downloaded(Item, location: Location, bytes: [UInt8]?, hash: ContentHash?)
    case failed(any Error)
}

/// Runs transfers of large files in the background; results are posted to the session's inbox.
final class TransferRunner {
    /// The minimum interval between two reports of a file's progress.
    private static let progressInterval = Duration.milliseconds(100)

    private let context: SyncContext
    private let staged: StagedTransfers
    private let reader: FileReader
    private let installer: Installer
    private let policy: TransferPolicy
    private let inbox: SyncInbox
    private var tasks: [ItemID: (work: Task<Void, Never>, pace: TransferPolicy.Pace?)] = [:]
    /// Those that were stopped for a while, and have not ended yet.
    private var stopped: Set<ItemID> = []
    /// Files that were hashed and are still to be sent.
    private var hashed: [ItemID: (content: LargeContent, stat: FileStat)] = [:]

    private var store: any TreeStore { context.store }

    init(_ context: SyncContext, _ local: LocalReplica, _ inbox: SyncInbox) {
        self.context = context
        staged = local.staged
        reader = local.reader
        installer = local.installer
        self.inbox = inbox
        policy = TransferPolicy(configuration: context.configuration, disk: context.environment.disk)
    }

    /// How many large files may be transferred now.
    var slots: Int { policy.pace.slots }

    /// When that may change; nil when it does not.
    func paceEnds(after now: SyncInstant) -> SyncInstant? { policy.holdsFor.map { now + $0 } }

    /// Stops transfers whose pace is not the current one; they are planned again and resume.
    func keepPace() {
        if tasks.isEmpty { return }
        let pace = policy.pace
        stop { $0 != pace }
    }

    /// Stops all that travels, as ``keepPace()`` does.
    func stop() { stop { _ in true } }

    private func stop(_ isToStop: (TransferPolicy.Pace) -> Bool) {
        for (item, task) in tasks where task.pace.map(isToStop) ?? false {
            stopped.insert(item)
            task.work.cancel()
        }
    }

    /// Cancels all transfers, and waits until none writes any more: what came is left for the next engine.
    func end() async {
        for task in tasks.values { task.work.cancel() }
        for task in tasks.values { await task.work.value }
    }

    /// Starts a large file's transfer; false when there is nothing to start.
    func start(_ request: TransferRequest, _ replica: any RemoteReplica, _ report: inout SyncReport) throws -> Bool {
        switch request.kind {
        case .hash: try startHashing(request.item, replica, &report)
        case .upload: try startUpload(request.item, replica, &report)
        case .download(let location): try startDownload(request.item, to: location, replica, &report)
        }
    }

    /// Handles the result of a transfer.
    ///
    /// - Throws: What ends the whole sync.
    func finish(
        _ item: ItemID, _ result: TransferResult, _ replica: any RemoteReplica, _ report: inout SyncReport
    ) async throws {
        tasks[item] = nil
        if stopped.remove(item) != nil, case .failed = result {
            // An upload's write may have been done: its echo is read before it is sent again.
            if try store.item(item)?.sent != nil { report.distrustFeed(.echoExpected) }
            report.ready.insert(item)
            return
        }
        do {
            switch result {
            case .hashed(let file, let content): try finishHashing(file, content, &report)
            case .uploaded(let upload, let result): try await finishUpload(upload, result, replica, &report)
            case .downloaded(let item, let location, let bytes, let hash):
                try finishDownload(item, location, bytes, hash, &report)
            case .failed(let error): throw error
            }
        } catch let error as RemoteError {
            try report.judge(error.asBreach, ofTransfer: item, isSent: store.item(item)?.sent != nil)
        } catch let error as FileError {
            report.refuse(item, in: try store.item(item)?.local?.location.parent, error)
        }
    }

    private func run(
        _ item: ItemID, at pace: TransferPolicy.Pace?, _ work: @escaping @Sendable () async throws -> TransferResult
    ) {
        let task = Task(executorPreference: context.environment.workers) { [inbox] in
            let result: TransferResult
            do { result = try await work() } catch { result = .failed(error) }
            inbox.post(.transferEnded(item, result))
        }
        tasks[item] = (task, pace)
    }

    /// The progress handler of a transfer, callable from any thread: it reports ten times a second, more often only
    /// after much data, and always the end.
    private func progress(of item: ItemID) -> @Sendable (TransferProgress) -> Void {
        let (inbox, clock) = (inbox, context.environment.clock)
        let last = Mutex<(at: SyncInstant, bytes: Int64)?>(nil)
        return { progress in
            let now = clock.now
            let isDue = last.withLock { last in
                if let known = last, now - known.at < Self.progressInterval, progress.completed != progress.total,
                    progress.completed - known.bytes < StatusRecorder.progressStep
                {
                    return false
                }
                last = (now, progress.completed)
                return true
            }
            if isDue { inbox.post(.transferProgressed(item, progress)) }
        }
    }

    // MARK: Hashing

    private func startHashing(
        _ id: ItemID, _ replica: any RemoteReplica, _ report: inout SyncReport
    ) throws -> Bool {
        guard let item = try store.item(id), let local = item.local, let file = try reader.open(id, local, &report)
        else { return false }
        let (isCut, workers) = (replica.isCut(item), context.environment.workers)
        run(id, at: nil) {
            let size = file.stat.fingerprint.size
            return .hashed(file, try await LargeContent.read(file.file, size: size, isCut: isCut, workers))
        }
        return true
    }

    private func finishHashing(
        _ file: OpenedFile, _ content: LargeContent, _ report: inout SyncReport
    ) throws {
        guard let local = try store.item(file.item)?.local else { return }
        let isUntouched = content.size == file.stat.fingerprint.size && file.hasSameContent == true
        guard isUntouched, try isUnchanged(file, local, &report) else {
            return try rescan(file.item, local, hasChanged: !isUntouched, &report)
        }
        try store.edit(durably: false) { editor in try editor.read(file.item, content.whole, file.stat) }
        hashed = hashed.filter { (try? store.item($0.key)?.isSettled) == false }
        hashed[file.item] = (content, file.stat)
        report.note(.readable, of: file.item)
        report.ready.insert(file.item)
        report.done += 1
    }

    private func isUnchanged(_ file: OpenedFile, _ local: LocalState, _ report: inout SyncReport) throws -> Bool {
        guard let folder = try context.handles.folder(local.location.parent, &report) else { return false }
        let there = try folder.entry(local.location.name.text)?.stat
        return try file.file.stat().fingerprint == file.stat.fingerprint && there?.handle == file.stat.handle
    }

    // MARK: Uploads

    private func startUpload(
        _ id: ItemID, _ replica: any RemoteReplica, _ report: inout SyncReport
    ) throws -> Bool {
        guard let item = try store.item(id), let local = item.local else { return false }
        guard let known = hashed[id], known.content.whole == local.hash, known.stat == local.stat else {
            return try startHashing(id, replica, &report)
        }
        guard let file = try reader.open(id, local, &report) else { return false }
        guard file.stat.fingerprint == known.stat.fingerprint else {
            try rescan(id, local, hasChanged: true, &report)
            return false
        }
        let upload = LargeUpload(
            write: OutgoingWrite(
                item: id, effect: .content(known.content.whole, size: known.content.size), local: local,
                seen: item.remote?.revision),
            content: known.content, source: file, resumption: staged.resumption(of: id),
            rate: policy, progress: progress(of: id))
        guard let work = try replica.upload(upload, &report) else { return false }
        try reader.noteDate(of: id, file.stat, &report)
        try context.noteSending([upload.write])
        run(id, at: policy.pace) { .uploaded(upload, try await work()) }
        return true
    }

    private func finishUpload(
        _ upload: LargeUpload, _ result: UploadResult, _ replica: any RemoteReplica, _ report: inout SyncReport
    ) async throws {
        guard let local = upload.write.local else { return }
        switch result {
        case .changed: return try rescan(upload.write.item, local, hasChanged: true, &report)
        case .chunks, .upload:
            if try !isUnchanged(upload.source, local, &report) {
                return try rescan(upload.write.item, local, hasChanged: upload.hasChanged, &report)
            }
        case .stored: break
        }
        let done = report.done
        try await replica.finish(upload, result, &report)
        if report.done > done { hashed[upload.write.item] = nil }
        // The refused upload may be of another state of the file. A conclusion removes a file that stays.
        try? staged.removeUpload(of: upload.write.item)
    }

    /// Has a file scanned again that changed, or was moved, while it was hashed or sent.
    ///
    /// Over plain v1 the server may have it as it was before; the feed shows that.
    private func rescan(
        _ item: ItemID, _ local: LocalState, hasChanged: Bool, _ report: inout SyncReport
    ) throws {
        hashed[item] = nil
        report.rescans.insert(local.location.parent)
        if hasChanged { report.note(.changedMeanwhile, of: item) }
        if try store.item(item)?.sent != nil { report.distrustFeed(.echoExpected) }
    }

    // MARK: Downloads

    private func startDownload(
        _ id: ItemID, to location: Location, _ replica: any RemoteReplica, _ report: inout SyncReport
    ) throws -> Bool {
        guard let item = try store.item(id), let reported = item.remote else {
            report.distrustFeed(.outdatedPlan)
            return false
        }
        guard let wanted = reported.hash else {
            report.refuse(id, "the server reports no hash to verify a large file with")
            return false
        }
        let path = try replica.tree.path(of: id, &report)
        let folder: any DiskFolder
        do {
            // Large contents are not downloaded for a location that is occupied or missing.
            guard try isFree(location, for: item, &report) else { return false }
            try staged.putBack(StagedName.writing(id).text, of: id)
            let rest = max(0, reported.size - (try staged.received(id, wanted)))
            guard try context.hasRoom(for: rest, [id], &report) else { return false }
            folder = try staged.folder(of: id, wanted)
        } catch let error as FileError {
            report.refuse(id, in: location.parent, error)
            return false
        }
        let (remote, policy, progress) = (replica.tree.remote, policy, progress(of: id))
        let workers = context.environment.workers
        run(id, at: policy.pace) {
            // As it is when it could not be installed, or the engine was stopped before that.
            if try await StagedTransfers.isWhole(reported.size, wanted, in: folder, workers) {
                return .downloaded(item, location: location, bytes: nil, hash: wanted)
            }
            guard let place = folder.path else {
                let bytes = try await remote.content(at: path, revision: nil, range: nil, limit: Int(reported.size))
                    .bytes
                return .downloaded(item, location: location, bytes: bytes, hash: ContentHasher.hash(bytes))
            }
            let metadata = try await policy.limited(.down) { () throws(RemoteError) in
                try await remote.download(
                    path, revision: nil, limit: reported.size, to: place + "/" + StagedTransfers.content,
                    journal: place + "/" + StagedTransfers.journal, progress: progress)
            }
            return .downloaded(item, location: location, bytes: nil, hash: metadata.contentHash ?? wanted)
        }
        return true
    }

    private func finishDownload(
        _ item: Item, _ location: Location, _ bytes: [UInt8]?, _ hash: ContentHash?, _ report: inout SyncReport
    ) throws {
        guard let reported = item.remote, let wanted = reported.hash else { return }
        guard hash == wanted else {
            try staged.remove(item.id, wanted)
            report.distrustFeed(.contentMismatch)
            return report.refuse(item.id, ContentFetcher.anotherContent, .breach)
        }
        guard let now = try store.item(item.id), now.local == item.local, now.remote?.hash == wanted else {
            report.distrustFeed(.outdatedPlan)
            return
        }
        // Otherwise it stays where it is for the next plan: it need not come again.
        guard try isFree(location, for: now, &report), try isReplaceable(now, at: location, &report) else { return }
        if bytes == nil { try staged.stage(item.id, wanted) }
        let content = StagedContent(item: now, location: location, remote: reported, hash: wanted, bytes: bytes)
        try installer.install([content], as: .download, &report)
        // What cannot be removed now is removed by a conclusion.
        try? staged.remove(item.id, wanted)
    }

    /// Whether nothing is at the place of an item that is new here.
    private func isFree(_ location: Location, for item: Item, _ report: inout SyncReport) throws -> Bool {
        guard let folder = try context.handles.folder(location.parent, &report) else { return false }
        guard item.local == nil, try folder.entry(location.name.text) != nil else { return true }
        try context.noteTaken(location, wantedBy: item.id, &report)
        return false
    }

    /// Whether the file that a content replaces, if there is one, is still as planned and not being written.
    private func isReplaceable(_ item: Item, at location: Location, _ report: inout SyncReport) throws -> Bool {
        guard let local = item.local, let folder = try context.handles.folder(location.parent, &report) else {
            return true
        }
        return try installer.isAsPlanned(local, item.id, in: folder, &report)
    }
}
