import ByteClubHTTP
import DownloadBoard
import ExampleSupport
import FoundationEssentials
import HTTPTypes

/// Download tasks of a session of this program: the session writes each file, which appears when it is complete.
///
/// In a default session a journal beside the file records the progress, so that the next program resumes it, even if this
/// one is killed. A lock beside it makes a second program leave the download to this one.
actor DownloadTasks: SessionEngine {
    nonisolated let downloads: [Board.Download]
    var runs: [Int: Run] = [:]
    private let targets: [Target]
    private let session: Session
    nonisolated let news: AsyncStream<Board.Event>
    /// Whether a part outlives the program: so in a default session.
    private let isKept: Bool
    /// The locks of the downloads whose parts are kept, until they are complete or the program ends.
    private var locks: [Int: FileLock] = [:]
    /// The resume data of downloads that were cancelled or have failed.
    private var parts: [Int: ResumeData] = [:]

    init(_ targets: [Target], isEphemeral: Bool) throws {
        self.targets = targets
        downloads = targets.map { Board.Download(url: $0.url, name: $0.name, file: $0.file) }
        isKept = !isEphemeral
        (session, news) = try Session.ofDownloads(targets, isEphemeral: isEphemeral)
    }

    /// Starts a download, from its part if there is one.
    func begin(_ place: Int, _ desk: Desk) async {
        do { try lock(place) } catch { return await desk.handle(.became(place, .failed, error)) }
        let target = targets[place]
        if let length = target.length {
            // A program that was killed right after the end has left its journal or its lock.
            if locks[place] != nil { target.discardStoredPart() }
            unlock(place)
            await desk.handle(.progress(place, bytes: length, total: length, bytesPerSecond: 0))
            return await desk.handle(.became(place, .done))
        }
        guard !isKept || locks[place] != nil else {
            return await desk.handle(
                .became(place, .failed, Failure(.partlyDone, "another program is downloading this file")))
        }
        var options = TaskOptions()
        if isKept { options.resumeJournal = target.journal }
        let part = parts.removeValue(forKey: place) ?? (isKept ? target.storedPart : nil)
        let task =
            if let part {
                session.downloadTask(resuming: part, request: target.request, to: target.file, options: options)
            } else { session.downloadTask(target.request, to: target.file, options: options) }
        await desk.handle(.became(place, .waiting))
        task.resume()
        runs[place] = Run(task: task, following: Task { await follow(place, task, desk) })
    }

    /// Cancels a download, and keeps its part: the task's error has it, see `follow`.
    func cancel(_ run: Run) async { _ = await run.task?.cancelKeepingResumeData() }

    func leave(_ desk: Desk) async {
        for run in runs.values {
            if isKept { await cancel(run) } else { run.task?.cancel() }
            await run.following.value
        }
        if !isKept { for part in parts.values { part.discard() } }
        parts = [:]
        for place in locks.keys { unlock(place) }
        await session.invalidateAndCancel()
    }

    /// Locks a download whose part is kept, unless another program has the lock.
    private func lock(_ place: Int) throws(Failure) {
        let target = targets[place]
        guard isKept, locks[place] == nil, !target.isThere || target.hasRemains else { return }
        locks[place] = try FileLock(trying: target.lock)
    }

    private func unlock(_ place: Int) { locks.removeValue(forKey: place)?.remove() }

    /// Reports a task's progress and its end, and keeps its part.
    private func follow(_ place: Int, _ task: SessionTask, _ desk: Desk) async {
        for await progress in task.progressUpdates {
            let total = progress.bytesExpectedToReceive
            await desk.handle(
                .progress(
                    place, bytes: progress.bytesReceived, total: total < 0 ? nil : total,
                    bytesPerSecond: progress.bytesPerSecond))
        }
        do {
            _ = try await task.value
            runs[place] = nil
            unlock(place)
            await desk.handle(.became(place, .done))
        } catch {
            parts[place] = error.resumeData
            if isKept, let part = error.resumeData { targets[place].store(part) }
            runs[place] = nil
            await desk.handle(.became(place, error.code == .cancelled ? .cancelled : .failed, Failure(error)))
        }
    }
}

extension Target {
    /// Whether a program has left its journal or its lock, or still uses them.
    fileprivate var hasRemains: Bool { [journal, lock].contains { FileManager.default.fileExists(atPath: $0) } }

    /// The part that an earlier program has left; nil without one of this URL.
    fileprivate var storedPart: ResumeData? {
        guard let bytes = FileManager.default.contents(atPath: journal),
            let part = try? ResumeData(bytes: Array(bytes))
        else { return nil }
        guard isSame(as: part.request) else {
            // The download of this URL replaces the journal.
            part.discard()
            return nil
        }
        return part
    }

    /// Removes the part that an earlier program has left, with its journal.
    fileprivate func discardStoredPart() {
        storedPart?.discard()
        try? FileManager.default.removeItem(atPath: journal)
    }

    /// Stores the data of a part, which are exact; the journal that the session writes may lag behind.
    fileprivate func store(_ part: ResumeData) {
        try? Data(part.bytes).write(to: URL(filePath: journal), options: .atomic)
    }
}
