import Glibc
import HTTPTypes

/// Resuming downloads: the range to request, the meaning of the response for the part, and the owner of the part.
extension Transfer {
    /// Opens the task's part before a request is sent, or drops one that cannot be resumed.
    func beginPart() {
        guard case .download(let path) = task.kind else { return dropPart() }
        if attempt.number == 1, file == nil, let data = task.resumeData, !hasTakenResumeData {
            hasTakenResumeData = true
            let record = data.take()
            file = DownloadFile(continuing: record, at: path, tag: task.options.partTag)
            representation = record.representation
            if let file, let journal = journal(of: file, synced: record.count) {
                // A record of the exact length is outdated once a byte was written.
                try? journal.begin()
                file.keep(journal)
            }
        }
        attempt.asked = part
        if attempt.asked == nil { dropPart() }
    }

    /// Drops the part and removes its file.
    func dropPart() {
        file = nil
        representation = nil
    }

    /// The part that the next request may resume.
    private var part: ResumePlan.Part? {
        guard isPlainGet, let file, file.size > 0, let representation, let validator = representation.validator,
            file.isIntact
        else { return nil }
        return ResumePlan.Part(count: file.size, total: representation.total, validator: validator)
    }

    /// Whether the request is a GET without its own range.
    private var isPlainGet: Bool {
        head.method == .get && !head.hasBody && !head.fields.contains(.range) && !head.fields.contains(.ifRange)
    }

    /// Decides once per attempt what a response means for the file; false to abort the transfer.
    func takeHead() -> Bool {
        guard attempt.step == nil, case .download = task.kind, let response = attempt.response else { return true }
        guard isPlainGet else {
            // With the caller's own range, or another method, the body of a success is the file.
            attempt.step = attempt.status?.kind == .successful ? .startOver : .pass
            return true
        }
        let step = attempt.asked.map { ResumePlan.step($0, response) } ?? ResumePlan.step(response)
        attempt.step = step
        switch step {
        case .append(let total):
            representation?.total = total
            attempt.continuedAt = file?.size ?? 0
            meter.skip(to: attempt.continuedAt, expectedToReceive: total)
            return true
        case .startOver:
            if attempt.asked != nil { underWay.beginsAnew = true }
            dropPart()
            representation = Representation(response)
            return true
        case .done, .pass: return true
        case .askAnew:
            underWay.beginsAnew = true
            return response.status.code == 416
        case .refuse(let message):
            attempt.failure = error(.protocolViolation, message, phase: .receive)
            return false
        }
    }

    /// Where the response continues a file whose rest was requested, and the length of the whole, or -1.
    ///
    /// The offset is 0 if the server begins anew. Nil where no rest was requested, and where that was reported before.
    func takeContinuation() -> (offset: Int64, expected: Int64)? {
        switch attempt.step {
        case .append(let total):
            underWay.beginsAnew = false
            return (attempt.continuedAt, total)
        case .done: return attempt.asked.map { ($0.count, $0.count) }
        case .startOver where underWay.beginsAnew:
            underWay.beginsAnew = false
            return (0, representation?.total ?? -1)
        default: return nil
        }
    }

    /// The response for the caller: complete even if it arrived in parts.
    var wholeResponse: HTTPResponse? {
        guard let response = attempt.response else { return nil }
        switch attempt.step {
        case .append, .done: return representation?.whole(response) ?? response
        case .startOver where response.status.code == 206 && isPlainGet:
            return representation?.whole(response) ?? response
        default: return response
        }
    }

    /// The path of the file that the response completes; nil for none.
    var wholeFilePath: String? {
        if attempt.step == .done, case .download(let path) = task.kind { path } else { filePath }
    }

    /// The error if the received file does not have the announced length, or nil.
    var lengthProblem: TransferError? {
        guard goesToFile, isPlainGet, let total = representation?.total else { return nil }
        let size = file?.size ?? 0
        if size == total { return nil }
        if size > total {
            dropPart()
            return error(
                .protocolViolation, "the server sent more than the \(total) bytes it announced", phase: .receive)
        }
        var problem = error(.connectionLost, "the server sent \(size) of \(total) bytes", phase: .receive)
        problem.isRetryable = mayRepeat
        return problem
    }

    /// Treats a 206 that ended early as a server that sends files in pieces, not as a failure.
    ///
    /// - Returns: False if the file did not grow, since repeating could then have no end.
    func takePiece() -> Bool {
        guard attempt.status?.code == 206, takeGrowth() else { return false }
        attempt.number -= 1
        return true
    }

    /// Whether the attempt has received enough of a resumable file to justify another request, and more than any
    /// earlier one.
    func takeGrowth() -> Bool {
        guard attempt.received >= Self.leastPiece, let part, part.count > work.grownTo else { return false }
        underWay.grownTo = part.count
        return true
    }

    private static let leastPiece: Int64 = 64 << 10

    /// The file of a download, created when it is first needed.
    func openFile(_ path: String) throws(DownloadFile.Failure) -> DownloadFile {
        if let file { return file }
        let file = try DownloadFile(path: path, tag: task.options.partTag)
        self.file = file
        if let path = task.options.resumeJournal {
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw DownloadFile.Failure(message: "the path of the journal has no file name", errno: EINVAL)
            }
            if let journal = journal(of: file, synced: 0) {
                try journal.begin()
                file.keep(journal)
            } else {
                unsafe unlink(path)
            }
        }
        return file
    }

    /// The journal of a resumable file, if the task has one; `synced` bytes of the file are on disk.
    private func journal(of file: DownloadFile, synced: Int64) -> ResumeJournal? {
        guard let path = task.options.resumeJournal, isPlainGet, var record = record(of: file, modified: nil) else {
            return nil
        }
        record.count = synced
        return ResumeJournal(path: path, record: record)
    }

    private func record(of file: DownloadFile, modified: Int64?) -> ResumeRecord? {
        guard let representation, let validator = representation.validator, let url = try? RequestURL(task.request)
        else { return nil }
        return ResumeRecord(
            url: url, temporary: file.temporary, inode: file.inode, count: file.size, modified: modified,
            validator: validator, representation: representation)
    }

    /// Adds resume data to a result without a file, if there is a part to resume.
    ///
    /// A cancelled download keeps its part only if `isKept`.
    func settle(_ result: Result<TaskResult, TransferError>, isKept: Bool) -> Result<TaskResult, TransferError> {
        if file == nil, task.resumeData == nil { return result }
        defer { dropPart() }
        switch result {
        case .success(var value):
            guard value.file == nil, let data = leavePart() else { return result }
            value.resumeData = data
            return .success(value)
        case .failure(var problem):
            guard Self.isResumable(problem.code, isKept: isKept), let data = leavePart() else { return result }
            problem.resumeData = data
            return .failure(problem)
        }
    }

    private static func isResumable(_ code: TransferError.Code, isKept: Bool) -> Bool {
        switch code {
        case .cancelled: isKept
        // An expired signature leads to 403, and a new address can resume the download.
        case .unacceptableResponse: true
        case .connectionLost, .timedOut, .cannotResolveHost, .cannotConnect, .networkNotAllowed, .tls, .proxyRefused,
            .other:
            true
        // A machine that lost its connection has no new credential either.
        case .adapterFailed, .authenticationFailed: true
        default: false
        }
    }

    private func leavePart() -> ResumeData? {
        // The task never started: the part is unchanged.
        if let data = task.resumeData, !hasTakenResumeData { return data }
        guard part != nil, let file, let modified = file.leave(), let record = record(of: file, modified: modified)
        else { return nil }
        return ResumeData(record)
    }
}
