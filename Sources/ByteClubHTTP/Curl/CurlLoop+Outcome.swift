import CLibcurl
import Glibc
import HTTPTypes
import Logging

extension CurlLoop {
    /// Deals with the transfers libcurl is done with; true if there were any.
    func collect(at now: Moment) -> Bool {
        var hasAny = false
        var result = CURLE_OK
        while let handle = unsafe byteclub_curl_multi_next_done(multi, &result) {
            var context: UnsafeMutableRawPointer?
            _ = unsafe byteclub_curl_get_pointer(handle, CURLINFO_PRIVATE, &context)
            guard let context = unsafe context else { continue }
            hasAny = true
            unsafe conclude(Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue(), result, at: now)
        }
        return hasAny
    }

    /// Decides what the end of an attempt means: another hop, another attempt, or the task's result.
    private func conclude(_ transfer: Transfer, _ result: CURLcode, at now: Moment) {
        let phase = transfer.phase
        let problem = self.problem(of: transfer, result, phase: phase)
        retire(transfer, keepingHandle: result == CURLE_OK)
        if let problem {
            log(transfer, "\(problem.code)")
            if problem.isRetryable, retry(transfer, asked: nil, at: now) { return }
            return finish(transfer, .failure(problem), at: now)
        }
        guard let response = transfer.attempt.response else {
            let problem = transfer.error(.protocolViolation, "the server sent no response", phase: .receive)
            return finish(transfer, .failure(problem), at: now)
        }
        log(transfer, "\(response.status.code)")
        answered.insert(transfer.head.url.origin)
        switch transfer.head.redirect(for: response, hops: transfer.hops, following: transfer.task.options.redirects) {
        case .none: break
        case .refuse(var problem):
            problem.attempt = transfer.attempt.number
            return finish(transfer, .failure(problem), at: now)
        case .follow(let head):
            transfer.head = head
            transfer.hops += 1
            transfer.attempt.number -= 1
            return requeue(transfer)
        }
        if RetryPolicy.isRetryable(status: response.status.code), transfer.mayRepeat {
            let asked = response.headerFields[.retryAfter].flatMap { RetryAfter.delay($0, now: Int64(time(nil))) }
            if retry(transfer, asked: asked, at: now) { return }
        }
        finish(transfer, deliver(transfer, response, at: now), at: now)
    }

    /// What went wrong, or nil if there is a response to look at.
    private func problem(of transfer: Transfer, _ result: CURLcode, phase: TransferError.Phase) -> TransferError? {
        if let failure = transfer.attempt.failure { return failure }
        if result == CURLE_OK { return nil }
        let isRejected = transfer.attempt.response.map { $0.status.code >= 300 } ?? false
        // A server may answer and close while the body is still being sent; a redirect's long body is cut off by us.
        if isRejected, result == CURLE_SEND_ERROR || result == CURLE_WRITE_ERROR { return nil }
        let meaning = CurlCode(result, phase: phase)
        let reason =
            result == CURLE_SSL_PINNEDPUBKEYNOTMATCH
            ? "the server's key is not the pinned one: this is another server, or somebody is in between"
            : transfer.attempt.easy?.describe(result) ?? CurlLibrary.describe(result)
        var problem = transfer.error(meaning.code, reason, phase: phase)
        problem.curlCode = Int32(result.rawValue)
        problem.errno = Int32(truncatingIfNeeded: transfer.attempt.easy?.long(CURLINFO_OS_ERRNO) ?? 0)
        // Where nobody ever answered there is most likely nobody: whoever waits wants to know at once.
        let isAbsent = problem.code == .cannotResolveHost || problem.errno == ECONNREFUSED
        let isWorthwhile = !isAbsent || answered.contains(transfer.head.url.origin)
        problem.isRetryable = meaning.isBeforeRequest && isWorthwhile || meaning.isLoss && transfer.mayRepeat
        return problem
    }

    /// Plans another attempt; false if there must be none.
    private func retry(_ transfer: Transfer, asked: Duration?, at now: Moment) -> Bool {
        let policy = configuration.retryPolicy
        guard transfer.task.options.retries, transfer.attempt.number < policy.maximumAttempts else { return false }
        if let asked, asked > policy.longestDelay { return false }
        let own = policy.delay(after: transfer.attempt.number, using: &random)
        let due = now.advanced(by: max(own, asked ?? .zero))
        guard due < transfer.resourceDeadline, budget.spend() else { return false }
        transfer.enter(.delayed(until: due))
        nextWaitingCheck = min(nextWaitingCheck, due)
        log(transfer, "trying again in \(max(own, asked ?? .zero))", isNotable: true)
        return true
    }

    /// Puts a transfer before the others of its origin.
    func requeue(_ transfer: Transfer) {
        transfer.enter(.waiting)
        nextWaitingCheck = min(nextWaitingCheck, transfer.resourceDeadline)
        admission.enqueue(transfer, origin: transfer.head.url.origin, first: true)
    }

    private func deliver(_ transfer: Transfer, _ response: HTTPResponse, at now: Moment)
        -> Result<TaskResult, TransferError>
    {
        if response.status.kind == .successful {
            do { try transfer.source?.verify() } catch {
                return .failure(transfer.error(error.code, error.message, phase: .file, errno: error.errno))
            }
        }
        var path: String?
        if transfer.goesToFile, case .download(let target) = transfer.task.kind {
            do throws(DownloadFile.Failure) {
                try transfer.openFile(target).publish()
            } catch {
                return .failure(transfer.error(.cannotWriteFile, error.message, phase: .file, errno: error.errno))
            }
            path = target
        }
        let progress = transfer.meter.finish(at: now)
        return .success(
            TaskResult(
                response: response, bytes: transfer.attempt.bytes, file: path, progress: progress,
                url: transfer.head.url.redacted))
    }

    /// Gives a task its result, whatever it is doing.
    func finish(_ transfer: Transfer, _ result: Result<TaskResult, TransferError>, at now: Moment) {
        retire(transfer, keepingHandle: false)
        transfer.enter(.finished)
        live[transfer.task.id] = nil
        transfer.file = nil
        transfer.source = nil
        transfer.attempt.bytes = []
        transfer.task.complete(result, progress: transfer.meter.finish(at: now))
    }

    private func log(_ transfer: Transfer, _ outcome: @autoclosure () -> String, isNotable: Bool = false) {
        guard let logger = configuration.logger else { return }
        logger.log(
            level: isNotable ? .info : .debug,
            "\(transfer.head.method.rawValue) \(transfer.head.url.redacted): \(outcome())",
            metadata: ["task": "\(transfer.task.id)", "attempt": "\(transfer.attempt.number)"])
    }
}
