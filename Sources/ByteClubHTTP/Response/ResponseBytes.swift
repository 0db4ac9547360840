import HTTPTypes
import Synchronization

/// The body of a response as it arrives, in chunks of up to 64 KiB.
///
/// At most 1 MiB is buffered. Above that the transfer is paused, with its timeouts, until the reader has reduced the
/// buffer to 256 KiB. Dropping the sequence and its readers, or cancelling the Swift task that reads, cancels the
/// transfer at once. The reader throws an error after the bytes that were received before it, but a cancel at once. If
/// there are several readers, each chunk reaches one of them.
public struct ResponseBytes: AsyncSequence, Sendable {
    /// A chunk, never empty.
    public typealias Element = [UInt8]
    /// The reason why the body is incomplete.
    public typealias Failure = TransferError

    /// Cancels the transfer when there are no readers left.
    final class Source: Sendable {
        let task: SessionTask
        let stream: ResponseStream

        init(_ task: SessionTask, _ stream: ResponseStream) {
            self.task = task
            self.stream = stream
        }

        deinit { task.cancel() }
    }

    let source: Source

    /// The underlying task: for its progress, to suspend it and, after its end, for its metrics.
    public var task: SessionTask { source.task }

    /// Reads the chunks.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: Source

        /// The next chunk, or nil after the last.
        ///
        /// - Parameter actor: The caller's isolation.
        /// - Returns: At least one byte.
        /// - Throws: If the body is incomplete; `cancelled` if the surrounding Swift task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(TransferError)
            -> [UInt8]?
        {
            let (task, stream) = (source.task, source.stream)
            let chunk = await withTaskCancellationHandler {
                await stream.next { _ = task.inbox.post(.unpause(task)) }
            } onCancel: {
                task.cancel()
            }
            return try chunk.get()
        }

        /// The next chunk, or nil after the last.
        ///
        /// - Returns: At least one byte.
        /// - Throws: As ``next(isolation:)``.
        public mutating func next() async throws(TransferError) -> [UInt8]? { try await next(isolation: nil) }
    }

    /// Starts reading.
    ///
    /// - Returns: A reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}

/// The handover of a streamed response from the loop to readers on any thread, or to the session's delegate.
final class ResponseStream: Sendable {
    private struct State {
        /// Whether the delegate was notified of bytes since it last emptied the ring.
        var isAnnounced = false
        var ring = BodyRing()
        var head: Result<HTTPResponse, TransferError>?
        /// Nil while more bytes may follow.
        var end: End?
        var waiters: [Waiter<Void>] = []
    }

    private enum End {
        case whole
        case failed(TransferError)
    }

    private enum Step {
        case chunk([UInt8], releases: Bool)
        case end(End)
        case wait
    }

    /// Whether the delegate is the reader.
    let isForDelegate: Bool
    private let state = Mutex(State())

    init(isForDelegate: Bool = false) { self.isForDelegate = isForDelegate }

    /// The number of buffered bytes.
    var count: Int { state.withLock { $0.ring.count } }

    /// Publishes the head of the response whose body follows.
    func begin(_ response: HTTPResponse) { change { $0.head = .success(response) } }

    /// Whether this many bytes may be appended now; if not, the reader posts ``Command/unpause(_:)`` later.
    func hasRoom(for size: Int) -> Bool { state.withLock { $0.ring.hasRoom(for: size) } }

    /// Appends bytes; true if the delegate has to be notified, which it was not since it last emptied the ring.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isNews = false
        change { state in
            unsafe state.ring.append(bytes)
            isNews = isForDelegate && !state.isAnnounced
            if isNews { state.isAnnounced = true }
        }
        return isNews
    }

    /// The oldest bytes for the delegate, nil if there are none.
    ///
    /// `releases` means that the loop must resume the transfer, and `isLast` that the ring is empty now, so that later
    /// bytes are announced again.
    func piece() -> (bytes: [UInt8], releases: Bool, isLast: Bool)? {
        state.withLock { state in
            let (bytes, releases) = state.ring.take()
            let isLast = state.ring.count == 0
            if isLast { state.isAnnounced = false }
            return bytes.map { ($0, releases, isLast) }
        }
    }

    /// Publishes the end; a response whose head was not published before is published with its whole body.
    ///
    /// Bytes received before a failure can still be read, but not after a cancel.
    func finish(_ result: Result<TaskResult, TransferError>) {
        change { state in
            switch result {
            case .success(let result):
                state.end = .whole
                guard state.head == nil else { return }
                state.head = .success(result.response)
                // The delegate has this body from the result.
                if !isForDelegate { state.ring.append(whole: result.bytes) }
            case .failure(let error):
                state.end = .failed(error)
                if state.head == nil { state.head = .failure(error) }
                if error.code == .cancelled { state.ring.removeAll() }
            }
        }
    }

    /// Waits for the head, or the error that prevented it.
    func head() async -> Result<HTTPResponse, TransferError> {
        while true {
            if let head = state.withLock({ $0.head }) { return head }
            await wait { $0.head != nil }
        }
    }

    /// The next bytes, nil after the last; calls `release` when the loop must resume the transfer.
    func next(release: () -> Void) async -> Result<[UInt8]?, TransferError> {
        while true {
            switch state.withLock({ Self.step(&$0) }) {
            case .chunk(let bytes, let releases):
                if releases { release() }
                return .success(bytes)
            case .end(.whole): return .success(nil)
            case .end(.failed(let error)): return .failure(error)
            case .wait: await wait { $0.ring.count > 0 || $0.end != nil }
            }
        }
    }

    private static func step(_ state: inout State) -> Step {
        let (bytes, releases) = state.ring.take()
        if let bytes { return .chunk(bytes, releases: releases) }
        return state.end.map { .end($0) } ?? .wait
    }

    private func wait(until isReady: (borrowing State) -> Bool) async {
        await Waiter<Void>.value { waiter in
            state.withLock { state in
                if isReady(state) { return () }
                state.waiters.append(waiter)
                return nil
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// A bounded queue for the bytes of a streamed body.
///
/// The writer stops when there is no room, and resumes when readers have emptied the queue to the low-water mark.
struct BodyRing {
    /// The maximum number of bytes.
    static let highWater = 1 << 20
    /// The number of bytes at which a stopped writer resumes.
    static let lowWater = 256 << 10
    private static let blockSize = 64 << 10

    private(set) var count = 0
    /// Whether the writer has stopped and waits to resume.
    private(set) var isHolding = false
    private var blocks = FIFO<[UInt8]>()
    private var newest: [UInt8] = []

    /// Whether this many bytes may be appended now; if not, a later ``take()`` reports when.
    mutating func hasRoom(for size: Int) -> Bool {
        // Below the low-water mark no reader would ever wake the writer.
        if !isHolding, count > Self.lowWater, size > Self.highWater - count { isHolding = true }
        return !isHolding
    }

    /// Adds bytes; small pieces share a block, so that a thousand of them do not become a thousand allocations.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if newest.count + bytes.count > Self.blockSize, !newest.isEmpty { blocks.append(Self.move(&newest)) }
        unsafe newest.append(contentsOf: bytes)
        count += bytes.count
    }

    /// Adds a complete body of any length.
    mutating func append(whole bytes: [UInt8]) {
        if !newest.isEmpty { blocks.append(Self.move(&newest)) }
        newest = bytes
        count += bytes.count
    }

    /// Removes the oldest bytes, nil if there are none; `releases` means that the writer must resume.
    mutating func take() -> (bytes: [UInt8]?, releases: Bool) {
        let bytes = blocks.popFirst() ?? (newest.isEmpty ? nil : Self.move(&newest))
        count -= bytes?.count ?? 0
        guard isHolding, count <= Self.lowWater else { return (bytes, false) }
        isHolding = false
        return (bytes, true)
    }

    /// Removes all bytes.
    mutating func removeAll() { self = BodyRing() }

    private static func move(_ block: inout [UInt8]) -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &block)
        return taken
    }
}
