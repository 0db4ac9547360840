import HTTPTypes

/// A question to user code about a challenge, with the transfers that wait for its answer.
struct Inquiry {
    /// The answer of user code.
    struct Decision: Sendable {
        let space: ProtectionSpace
        /// The number of the question.
        let number: UInt64
        /// The decision; nil if the task for which it was asked has ended.
        let decision: ChallengeDecision?
    }

    /// A transfer that was challenged.
    struct Waiting {
        let transfer: Transfer
        let challenge: AuthenticationChallenge
        /// All challenges of its response that can be answered, the strongest first.
        let all: [AuthenticationChallenge]
        let outcome: Outcome
    }

    /// How a transfer ends if its challenge is not answered.
    enum Outcome {
        case response(HTTPResponse)
        case problem(TransferError)
    }

    var number: UInt64 = 0
    var waiting: [Waiting] = []
    var question: Task<Void, Never>?
}

/// Answers to the challenges of servers and proxies.
///
/// For one protection space one question is asked at a time, whatever the number of transfers that were challenged.
extension CurlLoop {
    /// Answers a server's challenge, or asks user code about it; false if the response is to be handled otherwise.
    ///
    /// A request with its own `Authorization`, or with an ``Authentication``, is not answered.
    func answerServer(of transfer: Transfer, refused response: HTTPResponse, at now: Moment) -> Bool {
        guard !keyring.isEmpty || transfer.asksAboutChallenges, transfer.policy.keeper == nil,
            !transfer.head.fields.contains(.authorization)
        else { return false }
        let origin = transfer.head.url.origin.text
        let challenges = AuthenticationChallenge.all(in: response.headerFields, origin: origin).answerable
        return answer(challenges, of: transfer, otherwise: .response(response), at: now)
    }

    /// Answers a proxy's challenge, or asks user code about it; false if it is no challenge, or not to be answered.
    func answerProxy(of transfer: Transfer, refused problem: TransferError, at now: Moment) -> Bool {
        guard let offers = transfer.attempt.proxyOffers, !keyring.isEmpty || transfer.asksAboutChallenges,
            let proxy = self.proxy(of: transfer)
        else { return false }
        let response = transfer.attempt.response
        let challenges: [AuthenticationChallenge]
        if transfer.head.url.origin.scheme == .https {
            // A server behind the proxy has no right to ask for this.
            guard response == nil else { return false }
            challenges = AuthenticationChallenge.offered(offers, by: proxy)
        } else {
            challenges =
                AuthenticationChallenge.all(
                    in: response?.headerFields ?? [:], origin: proxy.description, ofProxy: true
                ).answerable
        }
        return answer(challenges, of: transfer, otherwise: .problem(problem), at: now)
    }

    /// Adds the answers that the session has for the next attempt of a transfer.
    func addAnswers(to transfer: Transfer) {
        let (head, challenged) = (transfer.head, transfer.challenges?.challenged)
        let isOwn = head.fields.contains(.authorization)
        let answer = isOwn ? nil : keyring.answer(to: head, after: challenged)
        var answerToProxy: Keyring.Answer?
        if let proxy = self.proxy(of: transfer) {
            answerToProxy = keyring.answer(to: head, through: proxy, after: transfer.challenges?.challengedByProxy)
        }
        guard answer != nil || answerToProxy != nil || transfer.challenges != nil else { return }
        let record = transfer.challengeRecord
        (record.sent, record.sentToProxy) = (answer, answerToProxy)
        // Only the cache needs it, for the fields that it compares.
        guard configuration.cache != nil, transfer.usesCache else { return }
        record.identity = isOwn ? nil : keyring.identity(for: head, after: challenged)
    }

    /// The HTTP proxy of a transfer's next attempt; nil for none.
    private func proxy(of transfer: Transfer) -> ProxyServer? {
        guard configuration.unixSocketPath == nil,
            let proxy = (try? configuration.proxyRules.get())?.server(for: transfer.head.url.origin),
            proxy.kind == .http || proxy.kind == .https
        else { return nil }
        return proxy
    }

    private func answer(
        _ challenges: [AuthenticationChallenge], of transfer: Transfer, otherwise outcome: Inquiry.Outcome,
        at now: Moment
    ) -> Bool {
        let record = transfer.challengeRecord
        guard let challenge = challenges.first(where: { !record.declined.contains($0.space) }) else { return false }
        let space = challenge.space
        let sent = space.isOfProxy ? record.sentToProxy : record.sent
        let used = sent?.space == space ? sent?.version : nil
        let isStale = used != nil && DigestAnswer.Demand(challenge)?.isStale == true
        if let version = keyring.version(of: space) {
            if used != version || isStale {
                // Another transfer got the credential, or the credential is right and the nonce is not.
                guard record.mayRepeat() else { return false }
                resend(transfer, for: challenge, otherwise: outcome, at: now)
                return true
            }
            keyring.forget(space)
        }
        if used != nil, !isStale { record.noteFailure(ofProxy: space.isOfProxy) }
        guard transfer.asksAboutChallenges, record.mayAsk(ofProxy: space.isOfProxy) else { return false }
        var asked = challenge
        asked.previousFailureCount = record.failures(ofProxy: space.isOfProxy)
        transfer.enter(.asking)
        nextWaitingCheck = min(nextWaitingCheck, transfer.resourceDeadline)
        record.awaited = space
        inquiries[space, default: Inquiry()].waiting.append(
            Inquiry.Waiting(transfer: transfer, challenge: asked, all: challenges, outcome: outcome))
        if inquiries[space]?.question == nil { ask(about: space) }
        return true
    }

    /// Asks user code on behalf of the transfer that waits longest.
    private func ask(about space: ProtectionSpace) {
        guard let first = inquiries[space]?.waiting.first else {
            inquiries[space] = nil
            return
        }
        log(first.transfer, "asking for a credential", isNotable: true)
        let (task, challenge) = (first.transfer.task, first.challenge)
        let handler = first.transfer.policy.challengeHandler
        lastInquiry += 1
        let number = lastInquiry
        inquiries[space]?.number = number
        inquiries[space]?.question = Task.detached {
            let decision: ChallengeDecision? =
                if let handler { await handler(challenge) } else { await task.inbox.events.decide(challenge, of: task) }
            _ = task.inbox.post(.decide(Inquiry.Decision(space: space, number: number, decision: decision)))
        }
    }

    /// Applies the answer of user code to all transfers that wait for it.
    func take(_ answer: Inquiry.Decision, at now: Moment) {
        guard let inquiry = inquiries[answer.space], inquiry.number == answer.number else { return }
        guard let decision = answer.decision else { return ask(about: answer.space) }
        inquiries[answer.space] = nil
        guard let asked = inquiry.waiting.first?.challenge else { return }
        if case .use(let credential) = decision, credential.objection(for: asked.scheme) == nil {
            keyring.store(credential, for: asked)
        }
        for waiting in inquiry.waiting {
            waiting.transfer.challengeRecord.awaited = nil
            proceed(waiting, decision, at: now)
        }
    }

    private func proceed(_ waiting: Inquiry.Waiting, _ decision: ChallengeDecision, at now: Moment) {
        let (transfer, space) = (waiting.transfer, waiting.challenge.space)
        switch decision {
        case .use(let credential):
            if let objection = credential.objection(for: space.scheme) {
                var problem = transfer.error(.authenticationFailed, objection, phase: .receive)
                problem.isOfProxy = space.isOfProxy
                return finish(transfer, .failure(problem), at: now)
            }
            resend(transfer, for: waiting.challenge, otherwise: waiting.outcome, at: now)
        case .performDefault: settle(transfer, waiting.outcome, at: now)
        case .cancel:
            finish(transfer, .failure(transfer.error(.cancelled, "cancelled", phase: .receive)), at: now)
        case .rejectProtectionSpace:
            transfer.challengeRecord.declined.insert(space)
            if answer(waiting.all, of: transfer, otherwise: waiting.outcome, at: now) { return }
            settle(transfer, waiting.outcome, at: now)
        }
    }

    private func settle(_ transfer: Transfer, _ outcome: Inquiry.Outcome, at now: Moment) {
        switch outcome {
        case .response(let response): settle(transfer, response, at: now)
        case .problem(let problem): settle(transfer, problem, at: now)
        }
    }

    /// Sends a challenged request once more; it gets its answer when it is sent.
    private func resend(
        _ transfer: Transfer, for challenge: AuthenticationChallenge, otherwise outcome: Inquiry.Outcome,
        at now: Moment
    ) {
        keyring.cover(transfer.head.url, by: challenge)
        if transfer.isSpent {
            var problem = transfer.error(
                .bodyFailed, "a credential is required, and the streamed body cannot be sent again", phase: .receive)
            problem.isOfProxy = challenge.isOfProxy
            if case .response(let response) = outcome { problem.rejected = transfer.held(response, at: now) }
            return finish(transfer, .failure(problem), at: now)
        }
        let (record, challenged) = (transfer.challengeRecord, Keyring.Challenged(challenge))
        if challenge.isOfProxy { record.challengedByProxy = challenged } else { record.challenged = challenged }
        log(transfer, "trying again with a credential", isNotable: true)
        transfer.task.tell(.retryScheduled(after: .zero, reason: .newCredential))
        if answerFromCache(transfer, at: now) { return }
        requeue(transfer)
    }

    /// Removes a transfer from those that wait; cancels the question if it was the last one.
    func stopAwaiting(_ transfer: Transfer) {
        guard let record = transfer.challenges, let space = record.awaited else { return }
        record.awaited = nil
        inquiries[space]?.waiting.removeAll { $0.transfer === transfer }
        guard inquiries[space]?.waiting.isEmpty == true else { return }
        inquiries[space]?.question?.cancel()
        inquiries[space] = nil
    }
}

extension Transfer {
    /// Whether user code decides about challenges.
    var asksAboutChallenges: Bool { task.inbox.events.hasDelegate || policy.challengeHandler != nil }
}

extension [AuthenticationChallenge] {
    /// The challenges that the session can answer, the strongest first.
    var answerable: [AuthenticationChallenge] { [3, 2, 1].flatMap { rank in filter { $0.rank == rank } } }
}

extension AuthenticationChallenge {
    /// How well its answer protects the password, from 1; 0 if the session has no answer.
    fileprivate var rank: Int {
        if scheme == "basic" { return 1 }
        guard let demand = DigestAnswer.Demand(self) else { return 0 }
        return demand.algorithm == .sha256 ? 3 : 2
    }

    /// The challenges of a proxy that refused a tunnel, of which libcurl reports only the schemes.
    fileprivate static func offered(_ offers: Int, by proxy: ProxyServer) -> [AuthenticationChallenge] {
        [(NamedProxy.digest, "digest"), (NamedProxy.basic, "basic")].filter { offers & $0.0 != 0 }.map {
            AuthenticationChallenge(scheme: $0.1, origin: proxy.description, isOfProxy: true)
        }
    }
}
