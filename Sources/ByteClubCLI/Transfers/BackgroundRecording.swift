import ByteClubCore
import ByteClubHTTP

/// Records transfers of photos for the daemon, and prints a line for each.
struct BackgroundRecording: Sendable {
    let context: Context
    let rateLimit: Int?
    /// Whether they wait while the network is metered.
    var waitsForUnmetered = false
    let json: Bool

    /// Transfers per request to the daemon, whose size is limited.
    var portion = 200

    /// Records the transfers that are not recorded already.
    ///
    /// - Throws: ``Failure`` when one could not be recorded, after all others.
    func record<Order: PhotoOrder>(_ orders: [Result<Order, Failure>]) async throws {
        var outcome = BatchOutcome<BackgroundStatus>()
        var (wanted, seen) = ([Order](), Set<Order>())
        for order in orders {
            switch order {
            case .success(let order): if seen.insert(order).inserted { wanted.append(order) }
            case .failure(let failure): outcome.failures.append(failure)
            }
        }
        if !wanted.isEmpty { outcome.done = try await record(wanted) }
        if !outcome.done.isEmpty {
            let noun = outcome.done.count == 1 ? "1 photo is" : "\(outcome.done.count) photos are"
            let network = waitsForUnmetered ? " for an unmetered network" : ""
            context.note("\(noun) queued\(network); 'byteclub transfers' shows progress")
        }
        try outcome.finish(context)
    }

    private func record<Order: PhotoOrder>(_ orders: [Order]) async throws -> [BackgroundStatus] {
        let requests = try orders.map { order in
            var request = try order.request(rateLimit: rateLimit)
            request.options.allowsMetered = !waitsForUnmetered
            return request
        }
        let (service, size) = (try context.transferService(), portion)
        return try await context.interrupts.cancelling {
            let control = try await BackgroundControl(service)
            let before = try await control.tasks()
            let underWay = Dictionary(
                before.filter { !$0.isFinished && $0.identifier == Context.photoTransfers }
                    .map { ($0.request.work, $0) }, uniquingKeysWith: { first, _ in first })
            var recorded: [BackgroundStatus] = []
            for start in stride(from: 0, to: requests.count, by: size) {
                let portion = requests[start...].prefix(size)
                let added = try await control.submit(
                    portion.filter { underWay[$0.work] == nil }, identifier: Context.photoTransfers)
                let byWork = Dictionary(added.map { ($0.request.work, $0) }) { first, _ in first }
                let tasks = portion.compactMap { underWay[$0.work] ?? byWork[$0.work] }
                try print(tasks, TransferIDs((before + added).map(\.id)))
                recorded += tasks
            }
            await control.close()
            return recorded
        }
    }

    private func print(_ tasks: [BackgroundStatus], _ ids: TransferIDs) throws {
        for task in tasks {
            let transfer = TransferObject(task, id: ids.short(task.id))
            if json { try context.output.write(JSON.line(transfer)) } else { try context.print(transfer, json: false) }
        }
    }
}
