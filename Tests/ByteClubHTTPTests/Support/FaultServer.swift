import Glibc
import Synchronization
import TestSupport

/// An HTTP server that a test controls, including faults that no real server should have.
///
/// Plain sockets, a thread a connection. The handler gets each request's head and the connection, and answers itself.
final class FaultServer: Sendable {
    /// What to do with the connection after a request.
    enum Next { case keep, close, reset }
    typealias Handler = @Sendable (Peer, RecordedRequest) -> Next

    private struct State {
        var accepts = 0
        var requests: [RecordedRequest] = []
        var open: Set<Int32> = []
        var isStopped = false
    }

    private let listener: LoopbackListener
    private let handler: Handler
    private let state = Mutex(State())
    private let changes = Changes()

    init(_ handler: @escaping Handler) throws {
        self.handler = handler
        listener = try LoopbackListener()
        listener.start { self.accept($0) }
    }

    var port: Int { Int(listener.port) }
    var authority: String { "127.0.0.1:\(port)" }
    var accepts: Int { state.withLock { $0.accepts } }
    var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// Returns once this many requests arrived.
    func received(_ count: Int) async { await changes.wait { self.requests.count >= count } }

    /// Returns once this many connections were made.
    func accepted(_ count: Int) async { await changes.wait { self.accepts >= count } }

    /// Ends the server and every connection.
    func stop() {
        let open = state.withLock { state -> Set<Int32>? in
            if state.isStopped { return nil }
            state.isStopped = true
            return state.open
        }
        guard let open else { return }
        listener.stop()
        for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private func accept(_ descriptor: Int32) {
        let isStopped = state.withLock { state in
            state.accepts += 1
            if !state.isStopped { state.open.insert(descriptor) }
            return state.isStopped
        }
        changes.notify()
        if isStopped { close(descriptor) } else { serve(descriptor) }
    }

    private func serve(_ descriptor: Int32) {
        let peer = Peer(descriptor)
        var next = Next.keep
        var index = 0
        while next == .keep, var request = peer.readHead() {
            index += 1
            request.indexOnConnection = index
            let recorded = request
            state.withLock { $0.requests.append(recorded) }
            changes.notify()
            next = handler(peer, recorded)
        }
        if next == .reset { peer.armReset() }
        state.withLock { _ = $0.open.remove(descriptor) }
        close(descriptor)
        changes.notify()
    }
}
