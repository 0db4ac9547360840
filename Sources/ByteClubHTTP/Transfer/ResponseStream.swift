import HTTPTypes
import Synchronization

/// Where the loop hands a streamed response over to whoever reads it, on any thread.
final class ResponseStream: Sendable {
    private struct State {
        var ring = BodyRing()
        var head: Result<HTTPResponse, TransferError>?
        /// Nil while more may come.
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

    private let state = Mutex(State())

    /// How many bytes are held.
    var count: Int { state.withLock { $0.ring.count } }

    /// Tells the head of the response whose body follows.
    func begin(_ response: HTTPResponse) { change { $0.head = .success(response) } }

    /// Whether this many bytes may be appended now; if not, the reader posts ``Command/unpause(_:)`` later.
    func hasRoom(for size: Int) -> Bool { state.withLock { $0.ring.hasRoom(for: size) } }

    /// Hands bytes over.
    func append(_ bytes: UnsafeRawBufferPointer) { change { unsafe $0.ring.append(bytes) } }

    /// Tells the end; a response whose head was not told before comes with its whole body.
    ///
    /// What was received before a failure can still be read, but not after a cancel.
    func finish(_ result: Result<TaskResult, TransferError>) {
        change { state in
            switch result {
            case .success(let result):
                state.end = .whole
                guard state.head == nil else { return }
                state.head = .success(result.response)
                state.ring.append(whole: result.bytes)
            case .failure(let error):
                state.end = .failed(error)
                if state.head == nil { state.head = .failure(error) }
                if error.code == .cancelled { state.ring.removeAll() }
            }
        }
    }

    /// The head, once it is told, or why there is none.
    func head() async -> Result<HTTPResponse, TransferError> {
        while true {
            if let head = state.withLock({ $0.head }) { return head }
            await wait { $0.head != nil }
        }
    }

    /// The next bytes, nil after the last; calls `release` when the loop must be told to go on.
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
