import HTTPTypes

/// Does the work of tasks, whatever it is.
struct WorkRunner: Sendable {
    let daemon: BackgroundDaemon
    let folder: TaskFolder
    let sessions: SessionPool

    /// Does a task's work, or goes on with it, until it is done, failed, or the Swift task is cancelled.
    ///
    /// - Parameters:
    ///   - status: The task.
    ///   - report: Is told how far the work is.
    /// - Returns: How it ended.
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
                    throw TransferError(.badRequest, "this daemon does no work of the kind '\(kind)'")
                }
                return .done(try await work.run(payload, context(of: status, report)))
            }
        } catch {
            return Task.isCancelled ? .stopped : .failed(BackgroundFailure(of: error))
        }
    }

    /// Removes what an unfinished task has left besides its records.
    func discard(_ id: BackgroundTask.ID, _ work: BackgroundRequest.Work) async {
        switch work {
        case .download: await OwnThread.run { [folder] in DownloadJournal(folder, id).discard() }
        case .upload: break
        case .custom(let kind, let payload):
            guard let work = daemon.works[kind] else { return }
            await work.discard(id, payload, checkpoint: folder.checkpoint(of: id))
            // It is done: the next daemon need not do it again.
            folder.removeCheckpoint(of: id)
        }
    }

    /// The secret fields that a task's credential names.
    func secretFields(_ options: BackgroundOptions) async throws -> HTTPFields {
        guard let name = options.credential else { return [:] }
        do { return try await daemon.credentials(name) } catch let failure as BackgroundFailure {
            throw failure
        } catch let error as TransferError {
            throw error
        } catch {
            // What the error says may hold the secret.
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
            saveCheckpoint: { bytes throws(TransferError) in
                guard bytes.count <= WorkContext.mostCheckpointBytes else {
                    throw TransferError(.bodyTooLarge, "a checkpoint of \(bytes.count) bytes is more than 1 MiB")
                }
                try folder.save(checkpoint: bytes, of: id)
            },
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

extension WorkContext {
    static let mostCheckpointBytes = 1 << 20
}
