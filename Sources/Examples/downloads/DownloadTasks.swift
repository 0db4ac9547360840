import ByteClubHTTP
import DownloadBoard
import ExampleSupport
import FoundationEssentials
import HTTPTypes

/// Download tasks of a session of this program: the session writes each file, which appears when it is complete.
actor DownloadTasks: Engine {
    private struct Run {
        let task: SessionTask
        var isPaused = false
        let following: Task<Void, Never>
    }

    nonisolated let downloads: [Board.Download]
    private let targets: [Target]
    private let session: Session
    /// Whether a part outlives the program, by a journal beside its file: so in a default session.
    private let isKept: Bool
    private var runs: [Int: Run] = [:]
    /// The resume data of downloads that were cancelled or have failed.
    private var parts: [Int: ResumeData] = [:]

    init(_ targets: [Target], isEphemeral: Bool) throws {
        self.targets = targets
        downloads = targets.map { Board.Download(url: $0.url, name: $0.name, file: $0.file) }
        isKept = !isEphemeral
        var configuration: SessionConfiguration = isEphemeral ? .ephemeral : .default
        // A response with another status than 2xx is an error.
        configuration.policy.validation = .successful
        session = try Session(configuration: configuration, name: "downloads")
    }

    func start(_ desk: Desk) async { for place in targets.indices { await begin(place, desk) } }

    func perform(_ command: Board.Command, _ desk: Desk) async {
        switch command {
        case .pause(let place):
            // A suspended task keeps its connection, but has no traffic.
            guard let run = runs[place], !run.isPaused else { return }
            run.task.suspend()
            runs[place]?.isPaused = true
            await desk.handle(.became(place, .paused))
        case .resume(let place):
            guard let run = runs[place] else { return await begin(place, desk) }
            guard run.isPaused else { return }
            runs[place]?.isPaused = false
            await desk.handle(.became(place, .waiting))
            run.task.resume()
        case .cancel(let place):
            guard let run = runs[place] else { return }
            // The error of the task has the same data: see `follow`.
            _ = await run.task.cancelKeepingResumeData()
            await run.following.value
        case .leave: break
        }
    }

    func leave() async {
        for run in runs.values {
            if isKept { _ = await run.task.cancelKeepingResumeData() } else { run.task.cancel() }
            await run.following.value
        }
        if !isKept { for part in parts.values { part.discard() } }
        parts = [:]
        await session.invalidateAndCancel()
    }

    /// Starts a download, from the part that is there.
    private func begin(_ place: Int, _ desk: Desk) async {
        let target = targets[place]
        if let length = target.length {
            // A program that was killed right after the end has left its journal.
            if isKept, let part = target.storedPart {
                part.discard()
                try? FileManager.default.removeItem(atPath: target.journal)
            }
            await desk.handle(.progress(place, bytes: length, total: length, bytesPerSecond: 0))
            return await desk.handle(.became(place, .done))
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
    /// The part that an earlier program has left; nil without one of this URL.
    fileprivate var storedPart: ResumeData? {
        guard let bytes = FileManager.default.contents(atPath: journal),
            let part = try? ResumeData(bytes: Array(bytes))
        else { return nil }
        guard part.request.path == request.path, part.request.authority == request.authority,
            part.request.scheme == request.scheme
        else {
            // The journal is about to belong to this URL.
            part.discard()
            return nil
        }
        return part
    }

    /// Stores the data of a part, which are exact; the journal that the session writes may lag behind.
    fileprivate func store(_ part: ResumeData) {
        try? Data(part.bytes).write(to: URL(filePath: journal), options: .atomic)
    }
}
