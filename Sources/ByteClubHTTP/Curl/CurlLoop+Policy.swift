import Glibc
import HTTPTypes

/// The answer of user code about a transfer.
enum Answer: Sendable {
    /// Send this request, which carries that credential.
    case send(RequestHead, credential: UInt64?)
    /// The same, after the server rejected the previous credential.
    case resend(RequestHead, credential: UInt64?)
    /// Follow a redirect.
    case follow(RequestHead, after: HTTPResponse)
    /// Try again; if that is not allowed, the reason becomes the outcome.
    case retry(after: Duration, RetryReason)
    /// Complete the task with the response received.
    case deliver
    /// Fail the task.
    case fail(TransferError)
}

/// Questions to user code, which runs in a Swift task while the transfer waits outside its queue.
extension CurlLoop {
    func retryPolicy(of transfer: Transfer) -> RetryPolicy {
        transfer.task.options.retryPolicy ?? configuration.retryPolicy
    }

    private func ask(_ transfer: Transfer, _ question: @escaping @Sendable () async -> Answer) {
        transfer.enter(.asking)
        nextWaitingCheck = min(nextWaitingCheck, transfer.resourceDeadline)
        let task = transfer.task
        transfer.question = Task.detached { _ = task.inbox.post(.answer(task, await question())) }
    }

    func take(_ answer: Answer, for transfer: Transfer, at now: Moment) {
        transfer.question = nil
        switch answer {
        case .send(let head, let credential):
            transfer.head = head
            transfer.credential = credential
            if answerFromCache(transfer, at: now) { return }
            requeue(transfer)
        case .resend(let head, let credential):
            transfer.task.tell(.retryScheduled(after: .zero, reason: .newCredential))
            take(.send(head, credential: credential), for: transfer, at: now)
        case .follow(let head, let response): follow(head, after: response, for: transfer, at: now)
        case .retry(let delay, let reason):
            if schedule(transfer, after: delay, because: reason, at: now) { return }
            if case .failure(let problem) = reason { return finish(transfer, .failure(problem), at: now) }
            deliver(transfer, at: now)
        case .deliver: deliver(transfer, at: now)
        case .fail(var problem):
            problem.attempt = transfer.attempt.number
            finish(transfer, .failure(problem), at: now)
        }
    }

    /// Starts an attempt, after adapting the request if the policy requires it.
    ///
    /// A redirected request is retried without adapting it again.
    func begin(_ transfer: Transfer, at now: Moment) {
        guard transfer.hops == 0, case let policy = transfer.policy, policy.changesRequests else {
            if answerFromCache(transfer, at: now) { return }
            if case .waiting = transfer.stage {
                transfer.ticket = admission.enqueue(
                    transfer, origin: transfer.head.url.origin, priority: transfer.priority)
            } else {
                requeue(transfer)
            }
            return
        }
        adapt(transfer, policy)
    }

    private func adapt(_ transfer: Transfer, _ policy: RequestPolicy) {
        let (task, attempt) = (transfer.task, transfer.attempt.number + 1)
        ask(transfer) {
            do throws(TransferError) {
                let (adapted, credential) = try await policy.adapt(try task.head(), attempt: attempt)
                return .send(adapted, credential: credential)
            } catch {
                return .fail(error)
            }
        }
    }

    /// Follows an allowed redirect unless user code decides otherwise.
    func consider(_ head: RequestHead, after response: HTTPResponse, for transfer: Transfer, at now: Moment) {
        guard transfer.keepsRedirectBodies else { return follow(head, after: response, for: transfer, at: now) }
        let (task, before) = (transfer.task, transfer.head)
        let redirect = Redirect(
            response: response, request: head.request, number: transfer.hops + 1,
            leavesOrigin: head.url.origin != before.url.origin)
        let handler = transfer.policy.redirectHandler
        ask(transfer) {
            let decision =
                if let handler { await handler(redirect) } else { await task.inbox.events.decide(redirect, of: task) }
            switch decision {
            case .follow: return .follow(head, after: response)
            case .stop: return .deliver
            case .send(let request):
                do throws(TransferError) {
                    let publicFields = task.inbox.configuration.publicFields
                    let changed = try before.redirected(to: request, insteadOf: head, publicFields: publicFields)
                    return .follow(changed, after: response)
                } catch {
                    return .fail(error)
                }
            }
        }
    }

    private func follow(_ head: RequestHead, after response: HTTPResponse, for transfer: Transfer, at now: Moment) {
        transfer.task.tell(.redirected(response, url: head.url.redacted))
        if head.url.origin != transfer.head.url.origin { transfer.hasLeftOrigin = true }
        transfer.head = head
        transfer.hops += 1
        transfer.challenges?.leaveHop()
        transfer.trust?.reset()
        transfer.attempt.number -= 1
        if answerFromCache(transfer, at: now) { return }
        requeue(transfer)
    }

    /// Repeats a request with a new credential after the server rejected the old one; false if it must not.
    func renewCredential(of transfer: Transfer, after response: HTTPResponse, at now: Moment) -> Bool {
        guard let refused = transfer.credential, transfer.renewals < CredentialRejection.most,
            !transfer.hasLeftOrigin, !transfer.isSpent,
            case let policy = transfer.policy, let keeper = policy.keeper,
            keeper.refusals.contains(response.status.code),
            transfer.renewals == 0 || keeper.mayRenewAgain(after: refused)
        else { return false }
        transfer.renewals += 1
        let rejection = CredentialRejection(
            response: response, origin: transfer.head.url.origin.text, number: transfer.renewals)
        log(transfer, "asking for a new credential", isNotable: true)
        let (head, task, attempt) = (transfer.head, transfer.task, transfer.attempt.number)
        let isOwn = transfer.hops == 0
        let rejected = transfer.held(response, at: now)
        ask(transfer) {
            do { try await keeper.renew(after: refused, for: rejection) } catch {
                var problem = TransferError(
                    .authenticationFailed, "the server rejects the credential, and there is no new one",
                    phase: .receive,
                    url: head.url.redacted
                ).caused(by: error)
                problem.rejected = rejected
                return .fail(problem)
            }
            do throws(TransferError) {
                let (changed, credential) =
                    isOwn
                    ? try await policy.adapt(try task.head(), attempt: attempt + 1)
                    : try await policy.authenticated(head)
                return .resend(changed, credential: credential)
            } catch {
                return .fail(error)
            }
        }
        return true
    }

    /// Schedules another attempt, or asks user code about it; false if there must be none.
    func reconsider(_ transfer: Transfer, _ reason: RetryReason, isWorthwhile: Bool, at now: Moment) -> Bool {
        // A reader has the start of this response, and another response cannot continue it.
        if transfer.attempt.isStreamed || transfer.isSpent { return false }
        if transfer.takeGrowth() {
            // Attempts that made progress do not count, so that a download over an unreliable connection still
            // completes.
            transfer.underWay.attemptsBefore = transfer.attempt.number - 1
            budget.earnRetry()
        }
        let retries = retryPolicy(of: transfer)
        guard transfer.task.options.retries, transfer.attemptsInVain < retries.maximumAttempts else { return false }
        let plan = isWorthwhile ? delay(of: transfer, because: reason, retries) : nil
        guard let handler = transfer.policy.retryHandler else {
            return plan.map { schedule(transfer, after: $0, because: reason, at: now) } ?? false
        }
        let failed = FailedAttempt(
            request: transfer.head.request, attempt: transfer.attempt.number, reason: reason, plan: plan)
        ask(transfer) {
            switch (await handler(failed), plan, reason) {
            case (.retry(let delay), _, _), (.asPlanned, let delay?, _): .retry(after: max(delay, .zero), reason)
            case (_, _, .failure(let problem)): .fail(problem)
            case (_, _, _): .deliver
            }
        }
        return true
    }

    /// The delay before another attempt; nil if the server asks for more than the allowed maximum.
    private func delay(of transfer: Transfer, because reason: RetryReason, _ retries: RetryPolicy) -> Duration? {
        let own = retries.delay(after: transfer.attemptsInVain, using: &random)
        guard case .response(let response) = reason, let field = response.headerFields[.retryAfter],
            let asked = RetryAfter.delay(field, now: Int64(time(nil)))
        else { return own }
        return asked > retries.longestDelay ? nil : max(own, asked)
    }

    private func schedule(_ transfer: Transfer, after delay: Duration, because reason: RetryReason, at now: Moment)
        -> Bool
    {
        let due = now.advanced(by: delay)
        guard due < transfer.resourceDeadline, budget.spend() else { return false }
        transfer.enter(.delayed(until: due))
        nextWaitingCheck = min(nextWaitingCheck, due)
        log(transfer, "trying again in \(delay)", isNotable: true)
        transfer.task.tell(.retryScheduled(after: delay, reason: reason))
        return true
    }
}
