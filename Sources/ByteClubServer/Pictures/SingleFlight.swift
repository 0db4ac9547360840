import Synchronization

/// Work that concurrent callers with the same key share: it runs once, and is cancelled when no caller waits any more.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Flight {
        let number: Int
        let task: Task<Value, any Error>
        var waiting: Int
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// The result of the work for a key: of the running work, or else of this.
    ///
    /// - Throws: Errors of the work.
    func value(of key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let flight = join(key, work)
        return try await withTaskCancellationHandler {
            try await flight.task.value
        } onCancel: {
            leave(key, flight.number)?.cancel()
        }
    }

    private func join(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) -> Flight {
        state.withLock { state in
            var flight: Flight
            if let known = state.flights[key] {
                flight = known
            } else {
                state.lastNumber += 1
                let number = state.lastNumber
                let task = Task {
                    defer { end(key, number) }
                    return try await work()
                }
                flight = Flight(number: number, task: task, waiting: 0)
            }
            flight.waiting += 1
            state.flights[key] = flight
            return flight
        }
    }

    /// Removes a waiter; returns the task when it was the last one.
    private func leave(_ key: Key, _ number: Int) -> Task<Value, any Error>? {
        state.withLock { state in
            guard var flight = state.flights[key], flight.number == number else { return nil }
            flight.waiting -= 1
            state.flights[key] = flight.waiting > 0 ? flight : nil
            return flight.waiting > 0 ? nil : flight.task
        }
    }

    private func end(_ key: Key, _ number: Int) {
        state.withLock { state in
            if state.flights[key]?.number == number { state.flights[key] = nil }
        }
    }
}
