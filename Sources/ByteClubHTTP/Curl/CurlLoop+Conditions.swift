/// Waiting for a network that a task may use.
///
/// The conditions are watched by a thread of their own, from the first task that they matter to until the session ends.
extension CurlLoop {
    /// Whether an admitted transfer may be sent now; otherwise it waits outside the queue, or has failed.
    func mayUseNetwork(_ transfer: Transfer, at now: Moment) -> Bool {
        guard let conditions else {
            // Its first report follows.
            watchConditions()
            park(transfer)
            return false
        }
        guard let obstacle = transfer.rules.obstacle(in: conditions) else {
            transfer.obstacle = nil
            return true
        }
        guard mayWait(transfer) else {
            admission.release(transfer.head.url.origin)
            var problem = transfer.error(.networkNotAllowed, "\(obstacle)", phase: .queue)
            problem.isRetryable = true
            finish(transfer, .failure(problem), at: now)
            return false
        }
        let isFirst = transfer.obstacle == nil
        transfer.obstacle = obstacle
        park(transfer)
        if isFirst {
            log(transfer, "waiting: \(obstacle)", isNotable: true)
            if !transfer.isOffline { transfer.task.tell(.waitingForConnectivity) }
        }
        return false
    }

    /// Applies new conditions to the transfers that they matter to.
    func take(_ conditions: NetworkConditions, at now: Moment) {
        let isFirst = self.conditions == nil
        self.conditions = conditions
        // In the order of their turns; finishing a transfer changes the collection.
        let restricted = live.values.filter(\.rules.isRestrictive)
        for transfer in restricted.sorted(by: { $0.ticket < $1.ticket }) {
            switch transfer.stage {
            case .parked:
                let obstacle = transfer.rules.obstacle(in: conditions)
                if !transfer.isSuspended, isFirst || obstacle == nil {
                    requeue(transfer)
                } else if transfer.obstacle != nil, let obstacle {
                    transfer.obstacle = obstacle
                }
            case .active:
                if let obstacle = transfer.rules.obstacle(in: conditions, isUnderWay: true) {
                    interrupt(transfer, obstacle, at: now)
                }
            case .waiting, .retired, .delayed, .asking, .finished: break
            }
        }
    }

    private func watchConditions() {
        guard conditionsWatch == nil else { return }
        var source = configuration.conditionsSource ?? .system
        source.threadPreparation = configuration.threadPreparation
        source.logger = configuration.logger
        conditionsWatch = ConditionsWatch(source) { [inbox] in _ = inbox.post(.conditions($0)) }
    }

    /// Whether a transfer waits for a network that it may use.
    func mayWait(_ transfer: Transfer) -> Bool {
        transfer.rules.isDiscretionary
            || transfer.task.options.waitsForConnectivity ?? configuration.waitsForConnectivity
    }

    private func park(_ transfer: Transfer) {
        transfer.enter(.parked)
        admission.release(transfer.head.url.origin)
        nextWaitingCheck = min(nextWaitingCheck, transfer.resourceDeadline)
    }

    /// Ends an attempt on a network that has become one that the task must not use.
    ///
    /// If the task may wait and its request be sent again, it waits; a download then continues with its bytes. This
    /// attempt does not count against the limit of retries. Otherwise the task fails, with resume data if it can be
    /// resumed.
    private func interrupt(_ transfer: Transfer, _ obstacle: NetworkConditions.Obstacle, at now: Moment) {
        let mayGoOn =
            mayWait(transfer) && transfer.task.options.retries && !transfer.attempt.isStreamed && !transfer.isSpent
            && (transfer.mayRepeat || !transfer.attempt.isBegun)
        guard mayGoOn else {
            var problem = transfer.error(.networkNotAllowed, "\(obstacle)", phase: transfer.phase)
            problem.isRetryable = transfer.mayRepeat || !transfer.attempt.isBegun
            return finish(transfer, .failure(problem), at: now)
        }
        log(transfer, "interrupted: \(obstacle)", isNotable: true)
        retire(transfer, keepingHandle: false)
        if transfer.takeGrowth() {
            transfer.underWay.attemptsBefore = transfer.attempt.number
        } else {
            transfer.underWay.attemptsBefore += 1
        }
        endWait(of: transfer)
        requeue(transfer)
    }
}
