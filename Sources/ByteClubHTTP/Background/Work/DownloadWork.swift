import ByteClubFiles
import Glibc
import HTTPTypes

/// One attempt at a background download, which continues the previous one.
struct DownloadWork: Sendable {
    let runner: WorkRunner
    let status: BackgroundStatus
    let request: HTTPRequest
    let path: String
    let report: @Sendable (WorkProgress) -> Void

    private var journal: DownloadJournal { DownloadJournal(runner.folder, status.id) }
    private var credential: String? { status.request.options.credential }

    /// Downloads until the file is complete and on disk, or the attempt fails.
    ///
    /// If the server refuses the credential, it is read again and the request repeated once.
    func run() async throws -> TaskQueue.End {
        if let length = await published() {
            report(WorkProgress(bytes: length, total: length))
            return done(HTTPResponse.Status.ok.code)
        }
        var mayRenew = credential != nil
        while true {
            let secrets = try await runner.secretFields(status.request.options)
            let result = await transfer(request.with(secrets))
            switch result {
            case .success(let value):
                if value.file != nil { return await finish(value.response.status.code) }
                await keep(value.resumeData, of: value.progress)
                if mayRenew, value.response.isRefusal {
                    mayRenew = false
                    continue
                }
                return .failed(BackgroundFailure(value.response, isRepeatable: true, now: wallClock()))
            case .failure(let error):
                await keep(error.resumeData, of: nil)
                return Task.isCancelled ? .stopped : .failed(BackgroundFailure(error, isRepeatable: true))
            }
        }
    }

    private func transfer(_ request: HTTPRequest) async -> Result<TaskResult, TransferError> {
        let session: Session
        do { session = try runner.sessions.session(for: status.id, status.request.options) } catch {
            return .failure(error)
        }
        var options = TaskOptions(status.request.options)
        options.resumeJournal = journal.path
        options.partTag = LeftParts.tag(of: status.id)
        let task =
            if let data = await OwnThread.run({ [journal] in journal.load() }) {
                session.downloadTask(resuming: data, request: request, to: path, options: options)
            } else {
                session.downloadTask(request, to: path, options: options)
            }
        return await task.outcome(stopping: { $0.cancelKeepingPart() }, progress: follow)
    }

    private func follow(_ updates: ProgressUpdates) async {
        var lacksMark = true
        for await update in updates where update.bytesReceived > 0 {
            let total = update.bytesExpectedToReceive >= 0 ? update.bytesExpectedToReceive : nil
            report(
                WorkProgress(bytes: update.bytesReceived, total: total, bytesPerSecond: update.bytesPerSecond))
            if lacksMark, let total, total >= DownloadMark.leastBytes {
                lacksMark = false
                await OwnThread.run { [runner, status, journal] in
                    guard let mark = journal.load().flatMap({ DownloadMark($0) }) else { return }
                    // Without the mark, a kill at the very end costs another download.
                    try? runner.folder.save(checkpoint: mark.encoded, of: status.id)
                }
            }
        }
    }

    /// The file's length if a killed attempt had completed it; nil otherwise.
    private func published() async -> Int64? {
        await OwnThread.run { [runner, status, journal, path] in
            guard let bytes = runner.folder.checkpoint(of: status.id),
                let mark = try? DownloadMark(decoding: bytes[...]), mark.isWhole(path), Self.sync(path) == nil
            else { return nil }
            journal.discard()
            return mark.total
        }
    }

    private func finish(_ code: Int) async -> TaskQueue.End {
        if let problem = await OwnThread.run({ [path] in Self.sync(path) }) {
            let message = "\(path) cannot be written: \(problem.reason)"
            return .failed(BackgroundFailure(TransferError(.cannotWriteFile, message), isRepeatable: true))
        }
        return done(code)
    }

    private func done(_ code: Int) -> TaskQueue.End { .done(BackgroundResult(status: code, file: path)) }

    /// Saves the downloaded bytes, and reports how many are safe.
    private func keep(_ data: ResumeData?, of progress: TaskProgress?) async {
        let count = await OwnThread.run { [journal] in
            data.map { journal.keep($0) } ?? journal.load()?.bytesReceived ?? 0
        }
        let total = data.map(\.bytesExpectedToReceive) ?? -1
        report(WorkProgress(bytes: count, total: total >= 0 ? total : nil))
    }

    private static func sync(_ path: String) -> FileFailure? {
        do throws(FileFailure) {
            try Durable.syncFile(path)
            try Durable.syncFolder(of: path)
            return nil
        } catch {
            return error
        }
    }
}

extension HTTPRequest {
    /// The request with further fields, which replace its own of the same names.
    func with(_ fields: HTTPFields) -> HTTPRequest {
        var request = self
        for name in Set(fields.map(\.name)) { request.headerFields[values: name] = fields[values: name] }
        return request
    }
}

extension HTTPResponse {
    /// Whether the server refused the credential.
    var isRefusal: Bool { status == .unauthorized || status == .forbidden }
}

extension TaskOptions {
    /// The options of one request of a background task.
    init(_ options: BackgroundOptions) {
        self.init()
        rateLimit = options.rateLimit
        priority = options.priority
        idempotencyKey = options.idempotencyKey
        retries = false
    }
}

extension SessionTask {
    /// Starts the task and waits for its end; cancelling the Swift task stops it.
    func outcome(
        stopping stop: @escaping @Sendable (SessionTask) -> Void,
        progress follow: @escaping @Sendable (ProgressUpdates) async -> Void
    ) async -> Result<TaskResult, TransferError> {
        await withTaskCancellationHandler {
            resume()
            // Detached, since it must see the last counters also after a cancellation.
            let following = Task.detached { [self] in await follow(progressUpdates) }
            let result: Result<TaskResult, TransferError>
            do throws(TransferError) { result = .success(try await value) } catch { result = .failure(error) }
            await following.value
            return result
        } onCancel: {
            stop(self)
        }
    }
}
