import Glibc
import HTTPTypes

/// Continuing a download: what is asked for, what the response means for the part that is there, and who gets it.
extension Transfer {
    /// Opens the part that the task was given, or forgets one that cannot be continued, before a request is sent.
    func beginPart() {
        guard case .download(let path) = task.kind else { return dropPart() }
        if attempt.number == 1, file == nil, let data = task.resumeData, !hasTakenResumeData {
            hasTakenResumeData = true
            let record = data.take()
            file = DownloadFile(continuing: record, at: path, tag: task.options.partTag)
            representation = record.representation
            if let file, let journal = journal(of: file, synced: record.count) {
                // Data that tell the exact length are true no more once a byte was written.
                try? journal.begin()
                file.keep(journal)
            }
        }
        attempt.asked = part
        if attempt.asked == nil { dropPart() }
    }

    /// Forgets the part and removes its file.
    func dropPart() {
        file = nil
        representation = nil
    }

    /// The part as the next request may ask to have it continued.
    private var part: ResumePlan.Part? {
        guard isPlainGet, let file, file.size > 0, let representation, let validator = representation.validator,
            file.isIntact
        else { return nil }
        return ResumePlan.Part(count: file.size, total: representation.total, validator: validator)
    }

    /// Whether the range of the request, if it has one, is ours.
    private var isPlainGet: Bool {
        head.method == .get && !head.hasBody && !head.fields.contains(.range) && !head.fields.contains(.ifRange)
    }

    /// Decides, once an attempt, what a response means for the file; false if its body must not come.
    func takeHead() -> Bool {
        guard attempt.step == nil, case .download = task.kind, let response = attempt.response else { return true }
        guard isPlainGet else {
            // The caller's own range, or what is no GET: the body of a success is the file.
            attempt.step = response.status.kind == .successful ? .startOver : .pass
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
            dropPart()
            representation = Representation(response)
            return true
        case .done, .pass: return true
        case .askAnew: return response.status.code == 416
        case .refuse(let message):
            attempt.failure = error(.protocolViolation, message, phase: .receive)
            return false
        }
    }

    /// The response as the caller sees it: whole, also where it came in parts.
    var wholeResponse: HTTPResponse? {
        guard let response = attempt.response else { return nil }
        switch attempt.step {
        case .append, .done: return representation?.whole(response) ?? response
        case .startOver where response.status.code == 206 && isPlainGet:
            return representation?.whole(response) ?? response
        default: return response
        }
    }

    /// Where the file is that the response makes whole; nil when it makes none.
    var wholeFilePath: String? {
        if attempt.step == .done, case .download(let path) = task.kind { path } else { filePath }
    }

    /// Why the file that was received is not what was announced, or nil.
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

    /// Takes a response that ended too soon for a server's way to send a file in pieces, and not for a failure.
    ///
    /// False where the file is no longer than it was after the piece before: that would go on without end.
    func takePiece() -> Bool {
        guard attempt.response?.status.code == 206, takeGrowth() else { return false }
        attempt.number -= 1
        return true
    }

    /// Whether the attempt has brought enough of a file that can be continued to be worth another request, and more
    /// than any before it.
    func takeGrowth() -> Bool {
        guard attempt.received >= Self.leastPiece, let part, part.count > grownTo else { return false }
        grownTo = part.count
        return true
    }

    private static let leastPiece: Int64 = 64 << 10

    /// The file a download goes to, made when first needed.
    func openFile(_ path: String) throws(DownloadFile.Failure) -> DownloadFile {
        if let file { return file }
        let file = try DownloadFile(path: path, tag: task.options.partTag)
        self.file = file
        if let path = task.options.resumeJournal {
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw DownloadFile.Failure(message: "there is no file name for the journal", errno: EINVAL)
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

    /// The journal that the task wants of a file, if that can be continued; so many of its bytes are synced.
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

    /// Puts resume data into a result that brings no file, where there is a part to continue.
    ///
    /// That of a cancelled download is left only if it `isKept`.
    func settle(_ result: Result<TaskResult, TransferError>, isKept: Bool) -> Result<TaskResult, TransferError> {
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
        // An address whose signature has expired says 403, and a fresh one goes on.
        case .unacceptableResponse: true
        case .connectionLost, .timedOut, .cannotResolveHost, .cannotConnect, .tls, .proxyRefused, .other: true
        // A machine that lost its connection has no new credential either.
        case .adapterFailed, .authenticationFailed: true
        default: false
        }
    }

    private func leavePart() -> ResumeData? {
        // Its turn never came: the part is as it was given.
        if let data = task.resumeData, !hasTakenResumeData { return data }
        guard part != nil, let file, let modified = file.leave(), let record = record(of: file, modified: modified)
        else { return nil }
        return ResumeData(record)
    }
}
