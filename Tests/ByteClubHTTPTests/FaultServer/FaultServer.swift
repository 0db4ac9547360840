import Glibc
import Synchronization

/// An HTTP server that does what a test tells it to, also what no server should.
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

    let port: Int
    private let listener: Int32
    private let handler: Handler
    private let state = Mutex(State())
    private let changes = Changes()

    init(_ handler: @escaping Handler) throws {
        self.handler = handler
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, length) == 0 && listen(descriptor, 1024) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else { throw ServerFailure(errno: Glibc.errno) }
        port = Int(UInt16(bigEndian: address.sin_port))
        startThread { self.accept() }
    }

    struct ServerFailure: Error { var errno: Int32 }

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
        shutdown(listener, Int32(SHUT_RDWR))
        for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private func accept() {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            if descriptor < 0 { break }
            let isStopped = state.withLock { state in
                state.accepts += 1
                if !state.isStopped { state.open.insert(descriptor) }
                return state.isStopped
            }
            changes.tell()
            if isStopped {
                close(descriptor)
                break
            }
            startThread { self.serve(descriptor) }
        }
        close(listener)
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
            changes.tell()
            next = handler(peer, recorded)
        }
        if next == .reset { peer.armReset() }
        state.withLock { _ = $0.open.remove(descriptor) }
        close(descriptor)
        changes.tell()
    }
}

/// Runs a function on a thread of its own.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Seed: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let seed = unsafe Unmanaged.passRetained(Seed(body))
    let code = unsafe pthread_create(
        &thread, nil,
        { context in
            if let context = unsafe context { unsafe Unmanaged<Seed>.fromOpaque(context).takeRetainedValue().body() }
            return nil
        }, seed.toOpaque())
    precondition(code == 0, "the test server needs a thread")
    pthread_detach(thread)
}
