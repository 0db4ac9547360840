import ByteClubFiles
import Glibc
import HTTPTypes

/// One attempt at a background upload of a file in one request.
struct UploadWork: Sendable {
    let runner: WorkRunner
    let status: BackgroundStatus
    let request: HTTPRequest
    let file: String
    let report: @Sendable (WorkProgress) -> Void

    /// How much of a response's body is kept.
    static let mostResponseBytes = 64 << 10

    private var isRepeatable: Bool { status.request.isRepeatable }

    /// Sends the file until the server answers or the attempt fails.
    func run() async throws -> TaskQueue.End {
        var mayRenew = status.request.options.credential != nil
        while true {
            let secrets = try await runner.secretFields(status.request.options)
            let session = try runner.sessions.session(for: status.id, status.request.options)
            let mark = try await checkedMark()
            report(WorkProgress(bytes: 0, total: mark.size))
            let task = session.uploadTask(
                request.with(secrets), from: .file(path: file), options: TaskOptions(status.request.options))
            let result = await task.outcome(stopping: { $0.cancel() }, progress: follow)
            switch result {
            case .success(let value) where value.response.status.kind == .successful:
                return .done(
                    BackgroundResult(
                        status: value.response.status.code, bytes: Array(value.bytes.prefix(Self.mostResponseBytes))))
            case .success(let value):
                if mayRenew, value.response.isRefusal {
                    mayRenew = false
                    continue
                }
                return .failed(BackgroundFailure(value.response, isRepeatable: isRepeatable, now: wallClock()))
            case .failure(let error):
                return end(error, sent: task.progress.bytesSent, mark)
            }
        }
    }

    private func end(_ error: TransferError, sent: Int64, _ mark: UploadMark) -> TaskQueue.End {
        report(WorkProgress(bytes: 0, total: mark.size))
        guard Task.isCancelled else { return .failed(BackgroundFailure(error, isRepeatable: isRepeatable)) }
        // Without the last byte the server has no complete request to act on.
        return isRepeatable || sent < mark.size ? .stopped : .failed(.interrupted)
    }

    /// The file's mark, after a check that the file is unchanged since the task was recorded.
    private func checkedMark() async throws -> UploadMark {
        let (kept, present) = await OwnThread.run { [runner, status, file] in
            let kept = runner.folder.checkpoint(of: status.id).flatMap { try? UploadMark(decoding: $0[...]) }
            return (kept, Result { () throws(TransferError) in try UploadMark(file: file) })
        }
        let mark = try present.get()
        guard let kept else { return mark }
        guard kept == mark else {
            throw TransferError(.fileChanged, "\(file) changed before it was sent", phase: .file)
        }
        return mark
    }

    private func follow(_ updates: ProgressUpdates) async {
        for await update in updates where update.bytesSent > 0 {
            let total = update.bytesExpectedToSend >= 0 ? update.bytesExpectedToSend : nil
            report(WorkProgress(bytes: update.bytesSent, total: total, bytesPerSecond: update.bytesPerSecond))
        }
    }
}

/// The identity of an upload's file when the task was recorded, which shows later changes of the file.
struct UploadMark: Sendable, Hashable {
    private var inode: UInt64
    private(set) var size: Int64
    private var seconds: Int64
    private var nanoseconds: Int64

    /// The current mark of a file; blocks.
    ///
    /// - Throws: ``TransferError/Code/fileUnreadable``.
    init(file path: String) throws(TransferError) {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw TransferError(.fileUnreadable, "'\(path)' is not an absolute path", phase: .file)
        }
        let found: (file: OwnedDescriptor<UploadSource.Failure>, status: FileStatus)?
        do throws(UploadSource.Failure) { found = try OwnedDescriptor.regularFile(path) } catch {
            throw TransferError(.fileUnreadable, error.message, phase: .file)
        }
        guard let found else { throw TransferError(.fileUnreadable, "\(path) is not a regular file", phase: .file) }
        // Not the device, whose number may change when the machine restarts.
        (inode, size) = (found.status.inode, found.status.size)
        (seconds, nanoseconds) = (found.status.modified, found.status.nanoseconds)
    }
}

extension UploadMark: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(inode, size, seconds, nanoseconds) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (inode, size, seconds, nanoseconds) = try reader.values()
    }
}
