import Synchronization

/// The bounded buffer between the sequence of a ``BodyStream`` and the loop.
///
/// The loop never waits: it reads the bytes available, and is notified later if there were none.
final class StreamFeed: Sendable {
    /// The result of reading.
    enum Taken {
        case bytes(Int)
        /// Nothing yet; the loop will be notified.
        case later
        case end
        case failure(String)
    }

    private struct State {
        var chunks = FIFO<ArraySlice<UInt8>>()
        var held = 0
        var isEnded = false
        var failure: String?
        var isClosed = false
        var isAwaited = false
        var room: Waiter<Void>?
        var reader: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let notify: @Sendable () -> Void

    private static let high = 1 << 20
    private static let low = 256 << 10

    /// Starts to read, and calls `notify`, from any thread, when bytes arrive after the loop found none.
    init(_ stream: BodyStream, notify: @escaping @Sendable () -> Void) {
        self.notify = notify
        let reader = Task.detached { [weak self] in
            var failure: String?
            do {
                try await stream.run { [weak self] chunk in
                    guard let feed = self else { throw CancellationError() }
                    try await feed.put(chunk)
                }
            } catch {
                failure = "\(error)"
            }
            self?.finish(failure)
        }
        state.withLock { $0.reader = reader }
    }

    /// Stops reading.
    func close() {
        let (reader, room) = state.withLock { state in
            state.isClosed = true
            defer { state.room = nil }
            return (state.reader, state.room)
        }
        reader?.cancel()
        room?.resume()
    }

    /// Moves bytes into the buffer.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Taken {
        let (taken, room) = state.withLock { state -> (Taken, Waiter<Void>?) in
            var count = 0
            while count < buffer.count, let chunk = state.chunks.popFirst() {
                let part = chunk.prefix(buffer.count - count)
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyBytes(from: part)
                count += part.count
                if part.count < chunk.count { state.chunks.prepend(chunk.dropFirst(part.count)) }
            }
            state.held -= count
            var room: Waiter<Void>?
            if state.held <= Self.low { swap(&room, &state.room) }
            if count > 0 { return (.bytes(count), room) }
            if let failure = state.failure { return (.failure(failure), room) }
            if state.isEnded { return (.end, room) }
            state.isAwaited = true
            return (.later, room)
        }
        room?.resume()
        return taken
    }

    /// Stores a chunk, and waits until there is room for the next.
    private func put(_ chunk: ArraySlice<UInt8>) async throws {
        if chunk.isEmpty { return }
        tell { state in
            state.chunks.append(chunk)
            state.held += chunk.count
        }
        await Waiter<Void>.value { waiter in
            state.withLock { state in
                if state.isClosed || state.held < Self.high { return () }
                state.room = waiter
                return nil
            }
        }
        if state.withLock(\.isClosed) { throw CancellationError() }
    }

    private func finish(_ failure: String?) {
        tell { state in
            state.isEnded = true
            state.failure = failure
        }
    }

    private func tell(_ body: (inout State) -> Void) {
        let isAwaited = state.withLock { state in
            body(&state)
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if isAwaited { notify() }
    }
}
