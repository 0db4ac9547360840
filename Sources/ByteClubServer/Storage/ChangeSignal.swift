import ByteClubCore
import Synchronization

/// Wakes those who wait for a change at or below a key.
final class ChangeSignal: Sendable {
    private struct Waiter {
        let prefix: PathKey
        let wake: AsyncStream<Void>.Continuation
    }

    private struct State {
        var lastRevision: Int64
        var nextNumber = 0
        var waiters: [Int: Waiter] = [:]
    }

    private let state: Mutex<State>

    /// Starts after the last change there was.
    init(lastRevision: Int64) {
        state = Mutex(State(lastRevision: lastRevision))
    }

    /// How many listen now.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Begins to listen: changes from now on count, even before the stream is read.
    private func listen(_ prefix: PathKey) -> (number: Int, lastRevision: Int64, changes: AsyncStream<Void>) {
        let (changes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            state.nextNumber += 1
            state.waiters[state.nextNumber] = Waiter(prefix: prefix, wake: wake)
            return (state.nextNumber, state.lastRevision, changes)
        }
    }

    /// Waits for a change after a revision at or below `prefix`: true, or false after the timeout.
    ///
    /// Where the revision is not the last one, `isThere` answers whether there is such a change already. Throws
    /// `CancellationError` when the surrounding task is cancelled.
    func wait(
        after revision: Int64, prefix: PathKey, timeout: Duration, isThere: () async throws -> Bool
    ) async throws -> Bool {
        let (number, last, changes) = listen(prefix)
        defer { state.withLock { $0.waiters[number] = nil } }
        if revision > last { return true }
        if revision < last, try await isThere() { return true }
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { await changes.first { _ in true } != nil }
            group.addTask {
                try await Task.sleep(for: timeout)
                return false
            }
            defer { group.cancelAll() }
            let answer = try await group.next() ?? false
            try Task.checkCancellation()
            return answer
        }
    }

    /// Announces durable changes, and the folders that changed with everything below them.
    func notify(_ entries: [FolderEntry], below subtrees: [PathKey], upTo last: Int64) {
        if entries.isEmpty { return }
        let changes = Changes(entries, below: subtrees)
        let awake = state.withLock { state in
            state.lastRevision = max(state.lastRevision, last)
            return state.waiters.values.filter { changes.concern($0.prefix) }
        }
        for waiter in awake { waiter.wake.yield() }
    }

    /// The changed places as sets, because there may be thousands of waiters and as many entries.
    private struct Changes {
        /// The entries and all folders above them.
        private var keys: Set<PathKey> = []
        private let subtrees: Set<PathKey>

        init(_ entries: [FolderEntry], below subtrees: [PathKey]) {
            self.subtrees = Set(subtrees)
            for entry in entries {
                var key: PathKey? = entry.path.key
                while let next = key, keys.insert(next).inserted { key = next.parent }
            }
        }

        /// Whether a change is at or below a key.
        func concern(_ prefix: PathKey) -> Bool {
            if keys.contains(prefix) { return true }
            return !subtrees.isEmpty
                && sequence(first: prefix, next: \.parent).dropFirst().contains(where: subtrees.contains)
        }
    }
}
