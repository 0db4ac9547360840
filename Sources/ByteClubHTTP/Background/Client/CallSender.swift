import Glibc
import Synchronization

/// Sends calls over one connection, in the order they were added.
///
/// What the system takes at once is sent by whoever flushes, and the rest by a thread of its own, so nobody who flushes
/// waits for the daemon to read. A sending that waits ends when the connection is shut down.
final class CallSender: Sendable {
    private struct State {
        var waiting: FIFO<DaemonFrame> = .init()
        /// Whether somebody takes frames out; nobody else does meanwhile.
        var isSending = false
        var isOver = false
    }

    private let connection: FrameConnection
    private let onTooLong: @Sendable (UInt64, TransferError) -> Void
    private let state = Mutex(State())

    /// A sender, the only one that sends over the connection.
    ///
    /// - Parameters:
    ///   - connection: Where to; its reader hears when it is lost.
    ///   - onTooLong: Called with the number of a call that can never be sent, which is left out.
    init(_ connection: FrameConnection, onTooLong: @escaping @Sendable (UInt64, TransferError) -> Void) {
        self.connection = connection
        self.onTooLong = onTooLong
    }

    /// Adds a call behind those that wait; takes microseconds.
    func add(_ number: UInt64, _ call: DaemonCall) {
        state.withLock { state in
            if !state.isOver { state.waiting.append(.call(number: number, call)) }
        }
    }

    /// Sends what waits, without blocking.
    func flush() {
        guard begin() else { return }
        send(rest: [], isWaiting: false)
    }

    private func begin() -> Bool {
        state.withLock { state in
            guard !state.isSending, !state.waiting.isEmpty else { return false }
            state.isSending = true
            return true
        }
    }

    /// The next frame; without one the turn to send is given back.
    private func next() -> DaemonFrame? {
        state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.isSending = false }
            return next
        }
    }

    /// Sends the rest of a frame and all frames that wait, by whose turn it is.
    private func send(rest: ArraySlice<UInt8>, isWaiting: Bool) {
        var rest = rest
        while true {
            while !rest.isEmpty {
                guard let count = connection.send(some: rest, isWaiting: isWaiting) else { return end() }
                rest = rest.dropFirst(count)
                if !rest.isEmpty, !isWaiting { return wait(toSend: rest) }
            }
            guard let frame = next() else { return }
            let bytes = frame.onWire
            if bytes.count - 4 <= DaemonFrame.limit {
                rest = bytes[...]
            } else if case .call(let number, _) = frame {
                onTooLong(number, FrameConnection.tooLong(bytes.count - 4))
            }
        }
    }

    private func wait(toSend rest: ArraySlice<UInt8>) {
        do { pthread_detach(try SystemThread.start { self.send(rest: rest, isWaiting: true) }) } catch {
            end()
            // Its reader hears of it, and the calls are sent again.
            connection.shutdown()
        }
    }

    private func end() { state.withLock { $0 = State(isOver: true) } }
}
