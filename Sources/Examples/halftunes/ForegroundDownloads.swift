import ByteClubHTTP
import FoundationEssentials
import Glibc

/// Downloads several previews at once while the program runs.
///
/// What came of each is noted in a file, so that the next run goes on from there, also when this one is killed.
struct ForegroundDownloads {
    private let session: Session
    private let downloads: [(preview: Preview, task: SessionTask)]
    private let display = ProgressDisplay()

    init(_ previews: [Preview]) throws {
        var configuration = SessionConfiguration.default
        configuration.policy.validation = .successful
        let session = try Session(configuration: configuration, name: "previews")
        self.session = session
        downloads = try previews.map { ($0, try Self.task(for: $0, session)) }
    }

    /// Returns when all are there.
    func run() async throws {
        let tasks = downloads.map(\.task)
        let stop = StopSignal { Self.stop(tasks) }
        let errors = await withTaskGroup(of: TransferError?.self, returning: [TransferError].self) { group in
            for (preview, task) in downloads {
                task.resume()
                group.addTask { await finish(preview, task) }
            }
            return await group.reduce(into: []) { errors, error in if let error { errors.append(error) } }
        }
        await session.finishTasksAndInvalidate()
        if let signal = stop.received {
            let code: Failure.Code = signal == SIGTERM ? .terminated : .interrupted
            if !errors.isEmpty { throw Failure(code, "stopped; the same command goes on from here") }
        }
        if errors.isEmpty { return }
        let codes = Set(errors.map { Failure.Code($0) })
        let isNothingDone = errors.count == downloads.count
        throw Failure(
            isNothingDone && codes.count == 1 ? codes.first ?? .partlyDone : .partlyDone,
            "\(errors.count) of \(downloads.count) not downloaded; the same command tries again")
    }

    /// Goes on with what an earlier run left, or begins.
    private static func task(for preview: Preview, _ session: Session) throws -> SessionTask {
        var options = TaskOptions()
        let journal = try preview.journal()
        options.resumeJournal = journal
        if let stored = FileManager.default.contents(atPath: journal),
            let resumeData = try? ResumeData(bytes: Array(stored)), resumeData.url == preview.address
        {
            return session.downloadTask(resuming: resumeData, to: preview.file, options: options)
        }
        return session.downloadTask(preview.request, to: preview.file, options: options)
    }

    /// Shows how a download comes on, until it has ended; what it failed with, or nil.
    private func finish(_ preview: Preview, _ task: SessionTask) async -> TransferError? {
        for await progress in task.progressUpdates {
            display.show(
                task.id,
                "\(preview.track.title): "
                    + Amount.text(
                        progress.bytesReceived,
                        of: progress.bytesExpectedToReceive < 0 ? nil : progress.bytesExpectedToReceive))
        }
        do {
            let result = try await task.value
            display.end(task.id, "\(preview.track.title): \(Amount.text(result.progress.bytesReceived))")
            print(preview.file)
            fflush(nil)
            return nil
        } catch {
            preview.keep(error.resumeData)
            display.end(task.id, "\(preview.track.title): \(error.code == .cancelled ? "stopped" : "\(error)")")
            return error
        }
    }

    private static func stop(_ tasks: [SessionTask]) {
        for task in tasks { Task { await task.cancelKeepingResumeData() } }
    }
}

extension Preview {
    /// The file in which is noted what came so far, in the user's folder for the state of programs.
    fileprivate func journal() throws -> String {
        let state = URL(filePath: try BackgroundDownloads.service().folder).deletingLastPathComponent()
        let folder = state.appending(path: "parts", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return folder.appending(path: "\(track.trackId)", directoryHint: .notDirectory).path
    }

    /// Notes what came before the download ended, to the last byte; without this the journal tells of less.
    fileprivate func keep(_ resumeData: ResumeData?) {
        guard let resumeData, let journal = try? journal() else { return }
        try? Data(resumeData.bytes).write(to: URL(filePath: journal), options: .atomic)
    }
}
