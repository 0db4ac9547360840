import ByteClubHTTP
import Dispatch
import ExampleSupport
import FoundationEssentials
import Glibc
import Synchronization

/// Downloads several previews at once while the program runs.
///
/// A journal records the progress of each, so that the next run resumes it, even if this one is killed.
struct ForegroundDownloads {
    private let session: Session
    private let downloads: [(preview: Preview, task: SessionTask)]

    init(_ previews: [Preview]) throws {
        var configuration = SessionConfiguration.default
        configuration.policy.validation = .successful
        let session = try Session(configuration: configuration, name: "previews")
        self.session = session
        downloads = try previews.map { ($0, try Self.task(for: $0, session)) }
    }

    /// Returns when all files are complete.
    func run() async throws {
        let tasks = downloads.map(\.task)
        let stop = StopSignal { for task in tasks { Task { await task.cancelKeepingResumeData() } } }
        let errors = await withTaskGroup(of: TransferError?.self, returning: [TransferError].self) { group in
            for (preview, task) in downloads {
                task.resume()
                group.addTask { await finish(preview, task) }
            }
            return await group.reduce(into: []) { errors, error in if let error { errors.append(error) } }
        }
        await session.finishTasksAndInvalidate()
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
        let journal = try preview.journal()
        options.resumeJournal = journal
        if let stored = FileManager.default.contents(atPath: journal),
            let resumeData = try? ResumeData(bytes: Array(stored)), resumeData.url == preview.address
        {
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
            return nil
        } catch {
            preview.keep(error.resumeData)
            tell("\(preview.track.title): \(error.code == .cancelled ? "stopped" : "\(error)")")
            return error
        }
    }
}

extension Preview {
    /// The file of the journal, in the user's folder for program state.
    fileprivate func journal() throws -> String {
        let state = URL(filePath: try BackgroundDownloads.service().folder).deletingLastPathComponent()
        let folder = state.appending(path: "parts", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return folder.appending(path: "\(track.trackId)", directoryHint: .notDirectory).path
    }

    /// Stores the resume data of a stopped download, which include its last bytes; the journal may lag behind.
    fileprivate func keep(_ resumeData: ResumeData?) {
        guard let resumeData, let journal = try? journal() else { return }
        try? Data(resumeData.bytes).write(to: URL(filePath: journal), options: .atomic)
    }
}

/// Handles the first Ctrl-C or SIGTERM; the second one ends the program as usual.
private final class StopSignal: Sendable {
    private let first = Mutex<Int32?>(nil)

    /// The signal received, or nil.
    var received: Int32? { first.withLock { $0 } }

    init(_ stop: @escaping @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            _ = signal(number, SIG_IGN)
            source.setEventHandler { [self] in
                for number in [SIGINT, SIGTERM] { _ = signal(number, SIG_DFL) }
                _ = source  // The handler keeps the source alive.
                first.withLock { $0 = number }
                stop()
            }
            source.resume()
        }
    }
}
