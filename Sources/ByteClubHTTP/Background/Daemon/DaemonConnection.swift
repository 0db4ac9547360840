import Glibc

/// A client's connection, as the daemon's loop has it; nothing here blocks.
///
/// Belongs to the loop's thread.
final class DaemonConnection {
    let number: UInt64
    let descriptor: Int32
    var outbox = Outbox()
    /// Whether the client has said which version it speaks.
    var isGreeted = false
    /// Whether it hears of all tasks.
    var isWatching = false
    /// The sessions that it has.
    var identifiers: Set<String> = []
    /// Its relayed requests under way, by their calls' numbers.
    var relayed: [UInt64: Task<Void, Never>] = [:]
    /// Its changes that are answered when their tasks stand still.
    var changes: [PendingChange] = []
    /// Whether it is to end when all was sent.
    var isEnding = false
    /// When it must have taken some of what waits; nil while nothing waits.
    private var sendDeadline: Moment?
    /// When a message that has begun must be whole; nil while there is none.
    private var receiveDeadline: Moment?
    private var incoming = FrameBuffer()
    private var outgoing: ArraySlice<UInt8> = []

    /// A client that reads nothing for so long, or leaves a message unfinished, is let go.
    static let patience: Duration = .seconds(30)
    /// While so many bytes of answers wait, no further call is read.
    private static let mostWaiting = 1 << 20
    private static let mostRelayed = 32
    private static let mostChanges = 32

    init(number: UInt64, descriptor: Int32) {
        self.number = number
        self.descriptor = descriptor
    }

    deinit {
        for task in relayed.values { task.cancel() }
        close(descriptor)
    }

    /// When the client is let go, unless it does what is due.
    var deadline: Moment? { [sendDeadline, isReading ? receiveDeadline : nil].compactMap { $0 }.min() }

    var isSending: Bool { !outgoing.isEmpty || !outbox.isEmpty }

    var isReading: Bool {
        !isEnding && outbox.bytes < Self.mostWaiting && relayed.count < Self.mostRelayed
            && changes.count < Self.mostChanges
    }

    /// Reads what is there; false when the client is gone.
    func receive(into buffer: UnsafeMutableRawBufferPointer, at now: Moment) -> Bool {
        let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 {
            receiveDeadline = receiveDeadline ?? now.advanced(by: Self.patience)
            unsafe incoming.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return true
        }
        return count < 0 && (errno == EAGAIN || errno == EINTR)
    }

    /// The next frame that came; see ``FrameBuffer/next()``.
    func next() throws(TransferError) -> DaemonFrame? {
        guard isReading else {
            // The rest is not read for now.
            receiveDeadline = nil
            return nil
        }
        let frame = try incoming.next()
        if frame != nil || incoming.isEmpty { receiveDeadline = nil }
        return frame
    }

    /// Sends what the client takes; false when it is gone.
    func send(at now: Moment) -> Bool {
        while true {
            if outgoing.isEmpty {
                guard let next = outbox.next() else {
                    sendDeadline = nil
                    return !isEnding
                }
                outgoing = next[...]
            }
            let count = unsafe outgoing.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                outgoing = outgoing.dropFirst(count)
                sendDeadline = nil
            } else if errno == EAGAIN {
                if sendDeadline == nil { sendDeadline = now.advanced(by: Self.patience) }
                return true
            } else if errno != EINTR {
                return false
            }
        }
    }
}
