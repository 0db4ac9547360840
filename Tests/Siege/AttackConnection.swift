import Glibc
import TestSupport

/// One non-blocking connection of an attacker.
struct AttackConnection {
    /// How it came to its end.
    enum End: Sendable {
        /// The server closed it.
        case closed
        /// The attacker hung up, or the attack was over.
        case hungUp
    }

    /// The socket.
    let descriptor: Int32
    /// Seconds since the start of the run at which it was opened.
    let opened: Double
    private var rest: ArraySlice<UInt8>
    private var answer: [UInt8] = []
    private var nextDrop: Double
    /// Bytes sent.
    private(set) var sent = 0
    /// How it ended; nil while it is open.
    private(set) var end: End?

    /// Connects from an address; nil when the system has no socket left.
    init?(_ attack: Attack, port: UInt16, from source: LoopbackAddress, _ request: [UInt8], at now: Double) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_INET, kind, 0)
        (opened, rest, nextDrop) = (now, request[...], now + 1)
        guard descriptor >= 0 else { return nil }
        if attack.reading != .everything {
            // A small receive buffer leaves more bytes with the server.
            var size: Int32 = 4096
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        guard source.bind(descriptor), LoopbackAddress.server.connect(descriptor, port: port) else {
            Glibc.close(descriptor)
            return nil
        }
    }

    /// Its entry for poll(2).
    func interest(_ attack: Attack) -> pollfd {
        let hangUp: Int32 = 0x2000  // POLLRDHUP
        let reads = attack.reading == .everything ? POLLIN : 0
        return pollfd(fd: descriptor, events: Int16(hangUp | reads | (rest.isEmpty ? 0 : POLLOUT)), revents: 0)
    }

    /// Performs the attack's next step, as far as the socket is ready.
    mutating func step(_ attack: Attack, _ events: Int16, at now: Double, using scratch: inout [UInt8]) {
        if Int32(events) & POLLOUT != 0 { send() }
        if Int32(events) & POLLIN != 0, attack.reading == .everything { receive(scratch.count, using: &scratch) }
        if now >= nextDrop {
            nextDrop = now + 1
            if case .drops(let bytes) = attack.reading { receive(bytes, using: &scratch) }
            if rest.isEmpty, attack.trickle > 0 {
                rest = [UInt8](repeating: UInt8(ascii: "x"), count: attack.trickle)[...]
                send()
            }
        }
        let isGone = Int32(events) & (0x2000 | POLLERR | POLLHUP | POLLNVAL) != 0
        if isGone, end == nil {
            receive(scratch.count, using: &scratch)
            end = .closed
        } else if let patience = attack.patience, rest.isEmpty || now > opened + 20, now >= opened + patience {
            end = .hungUp
        }
    }

    /// Closes the socket, after reading the bytes that have arrived.
    mutating func close(using scratch: inout [UInt8]) {
        receive(256, using: &scratch)
        Glibc.close(descriptor)
        if end == nil { end = .hungUp }
    }

    /// The status of the first answer; nil when there was none.
    var status: Int? {
        guard answer.count >= 12 else { return nil }
        return Int(String(decoding: answer[9..<12], as: UTF8.self))
    }

    private mutating func send() {
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
            rest = count == rest.count ? [] : rest.dropFirst(count)
        }
    }

    private mutating func receive(_ limit: Int, using scratch: inout [UInt8]) {
        let count = unsafe recv(descriptor, &scratch, min(limit, scratch.count), 0)
        if count == 0, end == nil { end = .closed }
        if count > 0, answer.count < 12 { answer += scratch.prefix(min(count, 12 - answer.count)) }
    }
}
