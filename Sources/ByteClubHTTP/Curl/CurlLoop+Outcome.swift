import CLibcurl
import Glibc
import HTTPTypes
import Logging
import Synchronization

extension CurlLoop {
    /// Handles the transfers that libcurl has finished; true if there were any.
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

    /// Decides what follows the end of an attempt: another hop, another attempt, or the task's result.
    private func conclude(_ transfer: Transfer, _ result: CURLcode, at now: Moment) {
        let phase = transfer.phase
        let problem = self.problem(of: transfer, result, phase: phase)
        retire(transfer, keepingHandle: result == CURLE_OK)
        if awaitTrust(transfer, at: now) { return }
        if waitForNetwork(transfer, after: problem, at: now) { return }
        if case .askAnew(let reason)? = transfer.attempt.step {
            log(transfer, "starting over: \(reason)", isNotable: true)
            transfer.dropPart()
            return requeue(transfer)
        }
        if let problem {
            log(transfer, "\(problem.code)")
            // A disposition rejected the response, which counts as a cancel.
            if problem.code == .cancelled { return finish(transfer, .failure(problem), at: now) }
            if answerProxy(of: transfer, refused: problem, at: now) { return }
            return settle(transfer, problem, at: now)
        }
        guard let response = transfer.attempt.response, let status = transfer.attempt.status else {
            return deliver(transfer, at: now)
        }
        log(transfer, "\(status.code)")
        answered.insert(transfer.head.url.origin)
        transfer.announceResponse(sent: transfer.attempt.sent)
        if takeToStores(transfer, response, isWhole: result == CURLE_OK, at: now) { return }
        switch transfer.redirect(after: response) {
        case .none: break
        case .refuse(var problem):
            problem.attempt = transfer.attempt.number
            return finish(transfer, .failure(problem), at: now)
        case .follow(let head): return consider(head, after: response, for: transfer, at: now)
        }
        if renewCredential(of: transfer, after: response, at: now) { return }
        if status.code == 401, answerServer(of: transfer, refused: response, at: now) { return }
        settle(transfer, response, at: now)
    }

    /// Completes a task with an error, unless another attempt is made.
    func settle(_ transfer: Transfer, _ problem: TransferError, at now: Moment) {
        if reconsider(transfer, .failure(problem), isWorthwhile: problem.isRetryable, at: now) { return }
        finish(transfer, .failure(problem), at: now)
    }

    /// Completes a task with a response, unless another attempt is made.
    func settle(_ transfer: Transfer, _ response: HTTPResponse, at now: Moment) {
        let status = response.status.code
        let isRetryable = retryPolicy(of: transfer).statuses.contains(status)
        if isRetryable || status >= 400 {
            let isWorthwhile = isRetryable && transfer.mayRepeat
            if reconsider(transfer, .response(response), isWorthwhile: isWorthwhile, at: now) { return }
        }
        if let problem = transfer.lengthProblem {
            log(transfer, problem.message)
            if problem.isRetryable, transfer.takePiece() {
                transfer.task.tell(.retryScheduled(after: .zero, reason: .failure(problem)))
                return requeue(transfer)
            }
            return settle(transfer, problem, at: now)
        }
        deliver(transfer, at: now)
    }

    /// The error of an attempt, or nil if there is a response to evaluate.
    private func problem(of transfer: Transfer, _ result: CURLcode, phase: TransferError.Phase) -> TransferError? {
        if let failure = transfer.attempt.failure { return failure }
        let proxy = (try? configuration.proxyRules.get())?.namedServer(for: transfer.head.url.origin)
        if result == CURLE_OK {
            // With plain HTTP a proxy's 407 looks like a response of the server, which never sends it.
            let status = transfer.attempt.status?.code
            guard let proxy, let status, status == NamedProxy.authenticationRequired else { return nil }
            transfer.noteProxyOffers(after: status)
            var problem = transfer.error(.proxyRefused, self.reason(status, proxy, transfer), phase: phase)
            problem.isOfProxy = true
            return problem
        }
        let isRejected = transfer.attempt.status.map { $0.code >= 300 } ?? false
        // A server may respond and close the connection while the body is still being sent; and this client cuts off
        // long redirect bodies.
        if isRejected, result == CURLE_SEND_ERROR || result == CURLE_WRITE_ERROR { return nil }
        if CurlCode.isLineTooLong(result), transfer.attempt.headBytes > 0, transfer.attempt.response == nil {
            return transfer.error(
                .protocolViolation, "a line in the head of the response is too long for libcurl", phase: .receive)
        }
        var meaning = CurlCode(result, phase: phase)
        var reason =
            result == CURLE_SSL_PINNEDPUBKEYNOTMATCH
            ? "the server's key is not the pinned one: this is another server, or the connection is intercepted"
            : transfer.attempt.easy?.describe(result) ?? CurlLibrary.describe(result)
        var isOfProxy = false
        if let refusal = transfer.attempt.easy?.long(CURLINFO_HTTP_CONNECTCODE), refusal >= 300 {
            (meaning.code, meaning.isLoss, meaning.isBeforeRequest) = (.proxyRefused, false, refusal >= 500)
            transfer.noteProxyOffers(after: refusal)
            if let proxy { (reason, isOfProxy) = (self.reason(refusal, proxy, transfer), true) }
        } else if let proxy, meaning.code == .cannotConnect || meaning.code == .cannotResolveHost {
            // With a proxy, the only connections are to the proxy.
            (reason, isOfProxy) = ("\(proxy) cannot be reached: \(reason)", true)
        }
        var problem = transfer.error(meaning.code, reason, phase: phase)
        problem.isOfProxy = isOfProxy
        problem.curlCode = Int32(result.rawValue)
        problem.errno = Int32(truncatingIfNeeded: transfer.attempt.easy?.long(CURLINFO_OS_ERRNO) ?? 0)
        // An origin that never responded probably does not exist, so the failure is reported at once instead of
        // retried.
        let isAbsent = problem.code == .cannotResolveHost || problem.errno == ECONNREFUSED
        let isWorthwhile = !isAbsent || answered.contains(transfer.head.url.origin)
        problem.isRetryable = meaning.isBeforeRequest && isWorthwhile || meaning.isLoss && transfer.mayRepeat
        return problem
    }

    /// Describes why a proxy refused a transfer.
    private func reason(_ status: Int, _ proxy: NamedProxy, _ transfer: Transfer) -> String {
        proxy.refusal(
            status, offers: transfer.attempt.proxyOffers ?? 0, isLoginSent: transfer.challenges?.sentToProxy != nil)
    }

    /// Queues a transfer at its origin, ahead of the others if it was admitted before.
    func requeue(_ transfer: Transfer) {
        transfer.enter(.waiting)
        nextWaitingCheck = min(nextWaitingCheck, transfer.resourceDeadline)
        transfer.ticket = admission.enqueue(
            transfer, origin: transfer.head.url.origin, priority: transfer.priority,
            first: !transfer.metrics.attempts.isEmpty || transfer.isOffline || transfer.trust != nil)
    }

    /// Completes a task with the response of its last attempt.
    func deliver(_ transfer: Transfer, at now: Moment) {
        guard let response = transfer.wholeResponse else {
            let problem = transfer.error(.protocolViolation, "the server sent no response", phase: .receive)
            return finish(transfer, .failure(problem), at: now)
        }
        let held = { transfer.held(response, at: now) }
        if let problem = transfer.rejection(of: response, hasBody: transfer.hasBody, held) {
            return finish(transfer, .failure(problem), at: now)
        }
        finish(transfer, result(of: transfer, response, at: now), at: now)
    }

    private func result(of transfer: Transfer, _ response: HTTPResponse, at now: Moment)
        -> Result<TaskResult, TransferError>
    {
        if let source = transfer.source, response.status.kind == .successful {
            do { try source.verify() } catch {
                return .failure(transfer.error(error.code, error.message, phase: .file, errno: error.errno))
            }
        }
        var path: String?
        if let target = transfer.wholeFilePath {
            transfer.attempt.bytes = []
            do throws(DownloadFile.Failure) {
                try transfer.openFile(target).publish()
            } catch {
                return .failure(transfer.error(.cannotWriteFile, error.message, phase: .file, errno: error.errno))
            }
            path = target
        }
        var result = transfer.held(response, at: now)
        result.file = path
        return .success(result)
    }

    /// Completes a task, whatever its stage.
    func finish(_ transfer: Transfer, _ result: consuming Result<TaskResult, TransferError>, at now: Moment) {
        retire(transfer, keepingHandle: false)
        endWait(of: transfer)
        let measured = result.adding(transfer.endMetrics())
        transfer.enter(.finished)
        live[transfer.task.id] = nil
        transfer.question?.cancel()
        stopAwaiting(transfer)
        if let trust { stopAwaitingTrust(transfer, trust) }
        let isKept = transfer.task.shared.withLock { $0.keepsResumeData }
        let outcome = transfer.settle(measured, isKept: isKept)
        transfer.releaseBodies()
        transfer.task.complete(outcome, progress: transfer.meter.finish(at: now))
    }

    func log(_ transfer: Transfer, _ outcome: @autoclosure () -> String, isNotable: Bool = false) {
        guard let logger = configuration.logger else { return }
        logger.log(
            level: isNotable ? .info : .debug,
            "\(transfer.head.method.rawValue) \(transfer.head.url.redacted): \(outcome())",
            metadata: ["task": "\(transfer.task.id)", "attempt": "\(transfer.attempt.number)"])
    }
}

extension Transfer {
    /// Notes by which schemes a proxy requires authentication, if it answered that it does.
    fileprivate func noteProxyOffers(after status: Int) {
        guard status == NamedProxy.authenticationRequired else { return }
        attempt.proxyOffers = attempt.easy?.long(CURLINFO_PROXYAUTH_AVAIL) ?? 0
    }
}

extension Result<TaskResult, TransferError> {
    /// Adds the metrics to the result or the error.
    fileprivate consuming func adding(_ metrics: TaskMetrics) -> Self {
        switch consume self {
        case .success(var result):
            result.metrics = metrics
            return .success(result)
        case .failure(var error):
            error.metrics = metrics
            return .failure(error)
        }
    }
}
