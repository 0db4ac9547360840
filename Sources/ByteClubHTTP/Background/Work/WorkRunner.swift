import HTTPTypes
import Synchronization

/// Does the work of tasks of all kinds.
struct WorkRunner: Sendable {
    let daemon: BackgroundDaemon
    let folder: TaskFolder
    let sessions: SessionPool

    /// Does or continues a task's work until it is done, has failed, or the Swift task is cancelled.
    func run(_ status: BackgroundStatus, report: @escaping @Sendable (WorkProgress) -> Void) async -> TaskQueue.End {
        defer { sessions.leave(status.id) }
        do {
            switch status.request.work {
            case .download(let request, let path):
                return try await DownloadWork(
                    runner: self, status: status, request: request, path: path, report: report
                )
                .run()
            case .upload(let request, let file):
                return try await UploadWork(runner: self, status: status, request: request, file: file, report: report)
                    .run()
            case .custom(let kind, let payload):
                guard let work = daemon.works[kind] else {
                    throw TransferError(.badRequest, "the daemon does not support work of the kind '\(kind)'")
                }
                return .done(try await work.run(payload, context(of: status, report)))
            }
        } catch {
            return Task.isCancelled ? .stopped : .failed(BackgroundFailure(of: error))
        }
    }

    /// Removes the remains of an unfinished task besides its records.
    func discard(_ id: BackgroundTask.ID, _ work: BackgroundRequest.Work) async {
        switch work {
        case .download: await OwnThread.run { [folder] in DownloadJournal(folder, id).discard() }
        case .upload: break
        case .custom(let kind, let payload):
            guard let work = daemon.works[kind] else { return }
            await work.discard(id, payload, checkpoint: folder.checkpoint(of: id))
            // So that the next daemon does not repeat the call.
            folder.removeCheckpoint(of: id)
        }
    }

    /// The secret fields of a task's credential.
    func secretFields(_ options: BackgroundOptions) async throws -> HTTPFields {
        guard let name = options.credential else { return [:] }
        do { return try await daemon.credentials(name) } catch
            where error is BackgroundFailure || error is TransferError
        {
            throw error
        } catch {
            // The error's own message may contain the secret.
            throw TransferError(.authenticationFailed, "the credential '\(name)' cannot be read")
        }
    }

    private func context(
        of status: BackgroundStatus, _ report: @escaping @Sendable (WorkProgress) -> Void
    ) -> WorkContext {
        let (id, options, folder, sessions) = (status.id, status.request.options, folder, sessions)
        let meter = WorkMeter(at: .fine)
        return WorkContext(
            id: id, options: options, checkpoint: folder.checkpoint(of: id),
            saveCheckpoint: { bytes throws(TransferError) in try folder.save(checkpoint: bytes, of: id) },
            reportProgress: { bytes, total, inFlight in
                let rate = meter.rate(bytes + max(0, inFlight), at: .fine)
                report(WorkProgress(bytes: bytes, total: total, bytesPerSecond: rate))
            },
            openSession: { configuration, name throws(TransferError) in
                try sessions.open(configuration, name: name, for: id, options)
            },
            secretFields: { try await secretFields(options) })
    }
}

/// The rate of a work, computed from its reported progress and smoothed over about two seconds.
final class WorkMeter: Sendable {
    private struct State {
        var bytes: Int64?
        var moment: Moment
        var rate: Double = 0
    }

    private let state: Mutex<State>
    private static let window = 2.0
    private static let shortest = 0.1

    init(at now: Moment) { state = Mutex(State(moment: now)) }

    /// Adds a report, and returns the rate in bytes per second.
    func rate(_ bytes: Int64, at now: Moment) -> Double {
        state.withLock { state in
            // The first report includes bytes of earlier attempts.
            guard let before = state.bytes, bytes >= before else {
                (state.bytes, state.moment) = (bytes, now)
                return state.rate
            }
            let seconds = Double(state.moment.duration(to: now).wholeNanoseconds) / 1e9
            guard seconds >= Self.shortest else { return state.rate }
            let weight = min(seconds / Self.window, 1)
            state.rate += (Double(bytes - before) / seconds - state.rate) * weight
            (state.bytes, state.moment) = (bytes, now)
            return state.rate
        }
    }
}
