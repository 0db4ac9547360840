import Glibc

/// A client's connection on the daemon's side; nothing here blocks.
///
/// Belongs to the loop's thread.
final class DaemonConnection {
    let number: UInt64
    let descriptor: Int32
    var outbox = Outbox()
    /// Whether the client has sent its version.
    var isGreeted = false
    /// Whether it gets the events of all tasks.
    var isWatching = false
    /// The sessions that it has attached to.
    var identifiers: Set<String> = []
    /// Its running relayed requests, by their calls' numbers.
    var relayed: [UInt64: Task<Void, Never>] = [:]
    /// Its changes that are answered when their tasks have stopped.
    var changes: [PendingChange] = []
    /// Whether to close it once everything is sent.
    var isEnding = false
    /// When the client must have read some of the waiting bytes; nil while none wait.
    private var sendDeadline: Moment?
    /// When a message that has begun must be complete; nil while there is none.
    private var receiveDeadline: Moment?
    private var incoming = FrameBuffer()
    private var outgoing: ArraySlice<UInt8> = []

    /// A client that reads nothing or leaves a message incomplete for so long is disconnected.
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

    /// When the client is disconnected unless it reads or sends.
    var deadline: Moment? { [sendDeadline, isReading ? receiveDeadline : nil].compactMap { $0 }.min() }

    var isSending: Bool { !outgoing.isEmpty || !outbox.isEmpty }

    var isReading: Bool {
        !isEnding && outbox.bytes < Self.mostWaiting && relayed.count < Self.mostRelayed
            && changes.count < Self.mostChanges
    }

    /// Reads bytes that have come; false when the client has closed the connection.
    func receive(into buffer: UnsafeMutableRawBufferPointer, at now: Moment) -> Bool {
        let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 {
            receiveDeadline = receiveDeadline ?? now.advanced(by: Self.patience)
            unsafe incoming.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return true
        }
        return count < 0 && (errno == EAGAIN || errno == EINTR)
    }

    /// The next frame; see ``FrameBuffer/next()``.
    func next() throws(TransferError) -> DaemonFrame? {
        guard isReading else {
            // This side delays the rest, not the client.
            receiveDeadline = nil
            return nil
        }
        let frame = try incoming.next()
        if frame != nil || incoming.isEmpty { receiveDeadline = nil }
        return frame
    }

    /// Sends until the socket's buffer is full; false when the connection must be closed.
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

/// The messages that wait to be sent to a client.
///
/// Answers keep their order. Of each task only the latest event waits, however slowly the client reads, except that an end
/// is kept before the task's removal.
struct Outbox {
    private enum Entry {
        case frame([UInt8])
        case task(BackgroundTask.ID)
    }

    private var order: FIFO<Entry> = .init()
    /// At most two events of a task: its end and its removal.
    private var events: [BackgroundTask.ID: [DaemonEvent]] = [:]
    /// How many bytes of answers wait.
    private(set) var bytes = 0

    var isEmpty: Bool { order.isEmpty }

    /// Appends an answer, or an event that is about no task; false when it is too long to be sent.
    mutating func add(_ frame: DaemonFrame) -> Bool {
        let content = frame.onWire
        guard content.count - 4 <= DaemonFrame.limit else { return false }
        bytes += content.count
        order.append(.frame(content))
        return true
    }

    /// Adds a task's event, which replaces a waiting one.
    mutating func add(_ event: DaemonEvent, of id: BackgroundTask.ID) {
        let before = events[id]
        if case .gone = event, let end = before?.first, case .status(let status) = end, status.isFinished {
            events[id] = [end, event]
        } else {
            events[id] = [event]
        }
        if before == nil { order.append(.task(id)) }
    }

    /// Removes the next frame, or a task's next two, and returns the bytes.
    mutating func next() -> [UInt8]? {
        guard let entry = order.popFirst() else { return nil }
        switch entry {
        case .frame(let content):
            bytes -= content.count
            return content
        case .task(let id): return events.removeValue(forKey: id)?.flatMap { DaemonFrame.event($0).onWire }
        }
    }
}

extension DaemonFrame {
    /// The frame's bytes with their length before them.
    var onWire: [UInt8] {
        let content = encoded
        let count = UInt32(clamping: content.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + content
    }
}

/// Divides received bytes into frames.
struct FrameBuffer {
    private var bytes: [UInt8] = []

    /// Whether the last frame is complete.
    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ more: some Collection<UInt8>) { bytes += more }

    /// Removes and returns the next frame; nil until it is complete.
    ///
    /// - Throws: ``TransferError/Code/protocolViolation`` for invalid bytes, after which no frame can be read.
    mutating func next() throws(TransferError) -> DaemonFrame? {
        guard bytes.count >= 4 else { return nil }
        let count = bytes[..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard count <= DaemonFrame.limit else {
            throw TransferError(.protocolViolation, "a message of \(count) bytes is too long")
        }
        guard bytes.count - 4 >= count else { return nil }
        defer {
            // This frees the memory of a long message.
            if bytes.count == 4 + count { bytes = [] } else { bytes.removeFirst(4 + count) }
        }
        do { return try DaemonFrame(decoding: bytes[4..<(4 + count)]) } catch {
            throw TransferError(.protocolViolation, "a message cannot be understood")
        }
    }
}
