/// Questions to user code about servers whose certificates were verified.
///
/// A request is sent only over a connection whose certificates have been accepted. An attempt that gets another connection
/// is given up before a byte of its request is sent, and made again once there is a verdict.
extension CurlLoop {
    /// Lets a transfer's next attempt judge the server that it reaches.
    func prepareTrust(of transfer: Transfer, _ book: TrustBook) {
        if let record = transfer.trust {
            record.unjudged = nil
        } else {
            transfer.underWay.trust = TrustRecord(book, isPinned: !configuration.pinnedKeys.isEmpty)
        }
    }

    /// Lets a transfer wait whose attempt was given up for want of a verdict; false if it ended otherwise.
    func awaitTrust(_ transfer: Transfer, at now: Moment) -> Bool {
        guard let record = transfer.trust, let unjudged = record.unjudged else { return false }
        record.unjudged = nil
        endWait(of: transfer)
        guard record.mayAsk() else {
            let problem = transfer.error(.tls, "the server has another certificate on each connection", phase: .tls)
            finish(transfer, .failure(problem), at: now)
            return true
        }
        transfer.enter(.asking)
        nextWaitingCheck = min(nextWaitingCheck, transfer.resourceDeadline)
        let subject = unjudged.subject
        record.awaited = subject
        if record.book.questions[subject] != nil {
            record.book.questions[subject]?.waiting.append(transfer)
            return true
        }
        log(transfer, "asking whether the server is trusted", isNotable: true)
        // Further transfers would only make connections that cannot be used yet.
        admission.hold(subject.origin)
        var question = TrustBook.Question(number: record.book.nextNumber(), waiting: [transfer])
        if let evaluate = configuration.trustEvaluator {
            let (number, inbox, trust) = (question.number, inbox, unjudged.trust)
            question.task = Task.detached {
                let answer = TrustBook.Answer(subject: subject, number: number, isTrusted: await evaluate(trust))
                _ = inbox.post(.judge(answer))
            }
        }
        record.book.questions[subject] = question
        return true
    }

    /// Applies the answer of user code to all transfers that wait for it.
    func take(_ answer: TrustBook.Answer, at now: Moment) {
        guard let waiting = trust?.take(answer), !waiting.isEmpty else { return }
        letGo(answer.subject.origin)
        // Each is queued ahead of the one before.
        for transfer in waiting.reversed() {
            transfer.trust?.awaited = nil
            if answer.isTrusted {
                transfer.forgetAttempt()
                requeue(transfer)
            } else {
                settle(transfer, transfer.refusal, at: now)
            }
        }
    }

    /// Removes a transfer from those that wait for a verdict; cancels the question if it was the last one.
    func stopAwaitingTrust(_ transfer: Transfer, _ book: TrustBook) {
        guard let record = transfer.trust, let subject = record.awaited else { return }
        record.awaited = nil
        book.questions[subject]?.waiting.removeAll { $0 === transfer }
        guard let question = book.questions[subject], question.waiting.isEmpty else { return }
        question.task?.cancel()
        book.questions[subject] = nil
        letGo(subject.origin)
    }

    private func letGo(_ origin: Origin) {
        guard trust?.isAsking(about: origin) == false else { return }
        admission.letGo(origin)
    }
}
