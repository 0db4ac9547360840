import ByteClubHTTP

/// Whether the machine's network is metered, so that bytes may cost money.
struct NetworkCost: Sendable {
    /// Begins a stream of whether it is metered: now, and after each change.
    var states: @Sendable () -> AsyncStream<Bool>

    /// The state of a sync or transfer that a metered network holds up, for people.
    static let waiting = "waiting for an unmetered network"

    /// Whether it is metered now; false when that is unknown.
    var isMetered: Bool {
        get async {
            for await isMetered in states() { return isMetered }
            return false
        }
    }

    /// The cost of this machine's network, as the system knows it.
    static let system = NetworkCost {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { sink in
            let task = Task {
                for await conditions in NetworkConditions.changes { sink.yield(conditions.isMetered) }
                sink.finish()
            }
            sink.onTermination = { _ in task.cancel() }
        }
    }
}
