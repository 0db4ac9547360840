import ByteClubHTTP
import ExampleSupport
import FoundationEssentials
import Glibc

/// Downloads several previews at once while the program runs.
///
/// A journal records the progress of each, so that the next run resumes it, even if this one is killed. A lock makes a
/// second program that wants the same track wait for this one.
struct ForegroundDownloads {
    private let session: Session
    private let downloads: [(preview: Preview, task: SessionTask)]
    private let locks: [FileLock]

    /// Prepares the downloads of the previews whose files are missing, and prints the existing files.
    ///
    /// - Throws: ``Failure`` if one of the downloads is in the background; then none is started.
    static func prepare(_ previews: [Preview]) async throws -> ForegroundDownloads {
        // In one order, so that two programs never wait for each other.
        let missing = previews.filter { !$0.isThere }.sorted { $0.track.trackId < $1.track.trackId }
        let locks = try lock(missing)
        // A program that starts downloads in the background sees either these records or this lock.
        let lock = try BackgroundDownloads.lock()
        try await BackgroundDownload.refuse(missing)
        defer { lock.release() }
        return try ForegroundDownloads(previews, locks)
    }

    private static func lock(_ missing: [Preview]) throws -> [FileLock] {
        try ForegroundRecord.prepare()
        return try missing.map { try ForegroundRecord.lock($0.track) }
    }

    /// Records the downloads.
    private init(_ previews: [Preview], _ locks: [FileLock]) throws {
        var configuration = SessionConfiguration.default
        configuration.policy.validation = .successful
        let session = try Session(configuration: configuration, name: "previews")
        self.session = session
        self.locks = locks
        var downloads: [(preview: Preview, task: SessionTask)] = []
        for preview in previews {
            try ForegroundRecord.write(preview, isDone: preview.isThere)
            if preview.isThere {
                tell("\(preview.track.title): is there already")
                show(preview.file)
            } else {
                downloads.append((preview, try Self.task(for: preview, session)))
            }
        }
        self.downloads = downloads
    }

    /// Returns when all files are complete.
    func run() async throws {
        let tasks = downloads.map(\.task)
        let stop = StopSignal { _ in for task in tasks { Task { await task.cancelKeepingResumeData() } } }
        let errors = await withTaskGroup(of: TransferError?.self, returning: [TransferError].self) { group in
            for (preview, task) in downloads {
                task.resume()
                group.addTask { await finish(preview, task) }
            }
            return await group.reduce(into: []) { errors, error in if let error { errors.append(error) } }
        }
        await session.finishTasksAndInvalidate()
        withExtendedLifetime(locks) {}
        if errors.isEmpty { return }
        if let signal = stop.received {
            let code: Failure.Code = signal == SIGTERM ? .terminated : .interrupted
            throw Failure(code, "stopped; the same command goes on from here")
        }
        let codes = Set(errors.map(Halftunes.code))
        let isSame = errors.count == downloads.count && codes.count == 1
        throw Failure(
            isSame ? codes.first ?? .partlyDone : .partlyDone,
            "\(errors.count) of \(downloads.count) not downloaded; the same command tries again")
    }

    /// Resumes the download of an earlier run, or starts a new one.
    private static func task(for preview: Preview, _ session: Session) throws -> SessionTask {
        var options = TaskOptions()
        let journal = try ForegroundRecord.path(preview.track.trackId)
        options.resumeJournal = journal
        if let resumeData = try ForegroundRecord.part(preview.track.trackId), resumeData.url == preview.address {
            return session.downloadTask(resuming: resumeData, to: preview.file, options: options)
        }
        return session.downloadTask(preview.request, to: preview.file, options: options)
    }

    /// Shows the progress of a download once a second until it ends; returns its error, or nil.
    private func finish(_ preview: Preview, _ task: SessionTask) async -> TransferError? {
        var shown: ContinuousClock.Instant?
        for await progress in task.progressUpdates where shown.map({ .now - $0 >= .seconds(1) }) ?? true {
            shown = .now
            let total = progress.bytesExpectedToReceive
            tell("\(preview.track.title): \(amount(progress.bytesReceived, of: total < 0 ? nil : total))")
        }
        do {
            let result = try await task.value
            tell("\(preview.track.title): \(size(result.progress.bytesReceived))")
            show(preview.file)
            try? ForegroundRecord.write(preview, isDone: true)
            return nil
        } catch {
            preview.keep(error.resumeData)
            // A download that was stopped, or lacks the network, can continue; others have reported why they cannot.
            if error.code == .unacceptableResponse, error.resumeData == nil {
                ForegroundRecord.remove(preview.track.trackId)
            }
            tell("\(preview.track.title): \(error.code == .cancelled ? "stopped" : "\(error)")")
            return error
        }
    }
}

extension Preview {
    /// Stores the resume data of a stopped download, which include its last bytes; the journal may lag behind.
    fileprivate func keep(_ resumeData: ResumeData?) {
        guard let resumeData, let journal = try? ForegroundRecord.path(track.trackId) else { return }
        try? Data(resumeData.bytes).write(to: URL(filePath: journal), options: .atomic)
    }
}
