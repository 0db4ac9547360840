import Glibc
import Synchronization

@testable import ByteClubHTTP

/// An origin that answers rightly about every second time: plain sockets, a thread a connection.
final class ChaosServer: Sendable {
    /// What to do with the connection after a request.
    enum Next { case keep, close, reset }

    private struct State {
        var open: Set<Int32> = []
        var random: Seeded
        /// Where redirects lead to, with the own one.
        var authorities: [String] = []
    }

    let name: String
    let authority: String
    /// A name below a public suffix that reaches this origin, directly or by the proxy.
    let neighbour: String
    /// Asks for credentials where a path, or the proxy, wants them.
    let door: Door
    /// The origins that this server is the proxy of; none for an origin.
    private let proxied: [ChaosServer]
    let versions: Versions
    let ledger: Ledger
    private let listener: Int32
    private let state: Mutex<State>

    /// Listens on a loopback address of its own: cookies know hosts, not ports.
    init(
        _ name: String, host: UInt32, versions: Versions, ledger: Ledger, seed: UInt64, proxied: [ChaosServer] = []
    ) throws {
        let (descriptor, port) = try ClosedPort.listen(host, backlog: 512)
        self.name = name
        authority = "127.0.0.\(host & 255):\(port)"
        neighbour = "soak-\(name.lowercased()).co.uk:\(port)"
        door = Door(name, ledger: ledger, seed: seed &+ 100)
        self.proxied = proxied
        self.versions = versions
        self.ledger = ledger
        listener = descriptor
        state = Mutex(State(random: Seeded(seed: seed)))
        try OwnThread.start { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 { break }
                do { try OwnThread.start { self.serve(connection) } } catch { close(connection) }
            }
        }
    }

    /// Where this origin's redirects may lead to.
    func lead(to authorities: [String]) { state.withLock { $0.authorities = authorities } }

    /// The connections that are open, as they look.
    var connections: [String] {
        state.withLock { state in
            state.open.map { descriptor in
                var byte: UInt8 = 0
                let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
                return count < 0 ? "silent" : count == 0 ? "closed by the client" : "with bytes unread"
            }
        }
    }

    /// A place for a redirect, and a generator for what is decided about one request.
    func decisions() -> (random: Seeded, authorities: [String]) {
        state.withLock { ($0.random.split(), $0.authorities) }
    }

    private func serve(_ descriptor: Int32) {
        _ = state.withLock { $0.open.insert(descriptor) }
        let peer = Peer(descriptor)
        var next = Next.keep
        while next == .keep, let request = peer.readHead() {
            if proxied.isEmpty {
                var answer = ChaosAnswer(self, peer, request)
                next = answer.send()
            } else {
                var visit = ProxyVisit(self, peer, request)
                next = visit.send(proxied)
            }
        }
        if next == .reset { peer.armReset() }
        state.withLock { _ = $0.open.remove(descriptor) }
        close(descriptor)
    }
}

/// A port that nobody answers at.
enum ClosedPort {
    struct NoSocket: Error { let errno: Int32 }

    /// A bound socket; with a backlog it listens.
    static func listen(_ host: UInt32, backlog: Int32?) throws -> (Int32, UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (0x7F00_0000 | host).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0
                    && (backlog.map { Glibc.listen(descriptor, $0) == 0 } ?? true)
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else { throw NoSocket(errno: errno) }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
