import CLibcurl

/// Waiting for a network.
///
/// The loop watches the network only while a transfer waits for it.
extension CurlLoop {
    /// Lets a transfer whose attempt failed for lack of a network wait for one; false if it must not, or need not.
    ///
    /// It never reached a server, so every request may be repeated, and neither the number of its attempts nor the
    /// budget of retries is affected.
    func waitForNetwork(_ transfer: Transfer, after problem: TransferError?, at now: Moment) -> Bool {
        guard let problem, mayWait(transfer),
            !transfer.isSpent, Connectivity.isMissing(problem, hasNetwork: { Connectivity.hasNetwork })
        else {
            endWait(of: transfer)
            return false
        }
        let isFirst = !transfer.isOffline
        var wait =
            transfer.underWay.connectivity
            ?? ConnectivityWait(firstDelay: configuration.connectivityDelay, at: now)
        let due = wait.failed(at: now)
        transfer.underWay.connectivity = wait
        transfer.forgetAttempt()
        transfer.enter(.delayed(until: due))
        nextWaitingCheck = min(nextWaitingCheck, due, transfer.resourceDeadline)
        if isFirst {
            offlineCount += 1
            network = network ?? NetworkWatch()
            log(transfer, "waiting for a network: \(problem.message)", isNotable: true)
            transfer.task.tell(.waitingForConnectivity)
        }
        return true
    }

    /// Notes that a transfer no longer waits for a network, if it did.
    func endWait(of transfer: Transfer) {
        guard transfer.isOffline else { return }
        transfer.underWay.connectivity = nil
        offlineCount -= 1
        if offlineCount == 0 { network = nil }
    }

    /// Tries the transfers again that wait for a network.
    func networkChanged() {
        guard let network else { return }
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { unsafe network.drain(with: $0) }
        let now = Moment.now
        for transfer in live.values where transfer.isOffline {
            // It has reached its host meanwhile.
            if transfer.isActive, transfer.attempt.isBegun {
                endWait(of: transfer)
                continue
            }
            let isDelayed = if case .delayed = transfer.stage { true } else { false }
            guard let due = transfer.underWay.connectivity?.networkChanged(isTrying: !isDelayed, at: now), isDelayed
            else { continue }
            transfer.enter(.delayed(until: due))
            nextWaitingCheck = min(nextWaitingCheck, due)
        }
    }
}
