import Glibc
import Synchronization
import TestSupport

/// A port that passes every connection on to another one, which a test may change.
final class PortRelay: Sendable {
    private struct State {
        var target: Int
        var accepts = 0
        var open: Set<Int32> = []
    }

    private let listener: LoopbackListener
    private let state: Mutex<State>

    init(to target: Int) throws {
        state = Mutex(State(target: target))
        listener = try LoopbackListener()
        listener.start { self.serve($0) }
    }

    var port: Int { Int(listener.port) }
    var authority: String { "localhost:\(port)" }
    /// How many connections were made.
    var accepts: Int { state.withLock { $0.accepts } }

    /// Passes later connections on to another port, and ends the present ones.
    func turn(to target: Int) {
        state.withLock { state in
            state.target = target
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    func stop() {
        listener.stop()
        turn(to: 0)
    }

    private func serve(_ descriptor: Int32) {
        let target = state.withLock { state in
            state.accepts += 1
            state.open.insert(descriptor)
            return state.target
        }
        Peer(descriptor).tunnel(to: target)
        state.withLock { state in
            state.open.remove(descriptor)
            close(descriptor)
        }
    }
}

extension Peer {
    /// Copies bytes both ways between the client and a port of this machine, until either side ends.
    func tunnel(to port: Int) {
        let far = connection(to: port)
        guard far >= 0 else { return }
        defer { close(far) }
        let peers = [self, Peer(far)]
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var entries = peers.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&entries, 2, -1) > 0 else { return }
            for (entry, other) in zip(entries, peers.reversed()) where entry.revents != 0 {
                let count = unsafe recv(entry.fd, &chunk, chunk.count, 0)
                guard count > 0, other.send(Array(chunk[..<count])) else { return }
            }
        }
    }
}

/// A connection to a port of this machine; -1 if nothing listens there.
func connection(to port: Int) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = LoopbackListener.address(port: UInt16(port))
    let isMade = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
    if isMade { return descriptor }
    close(descriptor)
    return -1
}
