import Glibc
import Synchronization

@testable import ByteClubHTTP

/// The system's bus of one session, with a NetworkManager whose network costs now this and now that.
///
/// While it is not calm it errs: it answers late or wrongly, has lost NetworkManager, or hangs up. One thread serves it
/// until it was retired and its last connection has ended, which a session must not leave open.
final class MeterBus: Sendable {
    private struct State {
        var random: Seeded
        var cost = BusClient.Cost.no
        var isCalm = false
        var isRetired = false
        /// The connections, and whether their login is over.
        var clients: [Int32: Bool] = [:]
        /// The connections that their clients will give up, since a call failed.
        var spoiled: Set<Int32> = []
        /// The number of the last change, and of the last one that an answer was right about.
        var changes = 0
        var answered = 0
    }

    static let alive = Atomic<Int>(0)

    private let path: String
    private let listener: Int32
    private let ledger: Ledger
    private let state: Mutex<State>

    /// Listens at a path; nil if it cannot.
    init?(_ path: String, _ ledger: Ledger, _ random: Seeded) {
        (self.path, self.ledger) = (path, ledger)
        state = Mutex(State(random: random))
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        do {
            let address = try UnixAddress(path)
            guard address.withPointer({ bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0 else {
                close(listener)
                return nil
            }
            try OwnThread.start { [self] in run() }
            Self.alive.add(1, ordering: .relaxed)
        } catch {
            if listener >= 0 { close(listener) }
            return nil
        }
    }

    /// Where a session reads the conditions: this bus, and the supplies in a folder.
    func source(power: String?) -> ConditionsSource {
        var source = ConditionsSource(bus: "unix:path=\(path)")
        (source.pause, source.patience) = (.milliseconds(20), .seconds(60))
        source.powerFolder = power ?? "/nonexistent"
        source.powerInterval = .milliseconds(20)
        return source
    }

    /// Changes the network's cost and announces that; the number of the change.
    @discardableResult
    func change(to cost: BusClient.Cost, isCalm: Bool) -> Int {
        state.withLock { state in
            (state.cost, state.isCalm) = (cost, isCalm)
            state.changes += 1
            let notices = isCalm ? 1 : Int.random(in: 1...4, using: &state.random)
            for (client, isTalking) in state.clients where isTalking {
                for _ in 0..<notices { Self.send(Self.notice.encoded, to: client) }
            }
            return state.changes
        }
    }

    /// Whether a client asked since a change and got the right answer.
    ///
    /// A client reports before it asks, and not again before it has the answer. So whatever it reports later is as the
    /// bus was after the change.
    func hasAnswered(_ change: Int) -> Bool { state.withLock { $0.answered >= change } }

    /// Ends all connections.
    func hangUp() { state.withLock { for client in $0.clients.keys { shutdown(client, Int32(SHUT_RDWR)) } } }

    /// Accepts no further connection.
    func retire() {
        state.withLock { state in
            state.isRetired = true
            shutdown(listener, Int32(SHUT_RDWR))
        }
    }

    // MARK: - On the bus's thread

    private func run() {
        var isListening = true
        // What came of messages that are not whole.
        var buffers: [Int32: [UInt8]] = [:]
        while isListening || !buffers.isEmpty {
            var entries = buffers.keys.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            if isListening { entries.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0)) }
            guard poll(&entries, nfds_t(entries.count), -1) > 0 else { continue }
            for entry in entries where entry.revents != 0 {
                if isListening, entry.fd == listener {
                    let client = accept(listener, nil, nil)
                    if client >= 0 {
                        buffers[client] = []
                        state.withLock { $0.clients[client] = false }
                    } else if state.withLock({ $0.isRetired }) {
                        isListening = false
                    }
                } else if !serve(entry.fd, &buffers[entry.fd, default: []]) {
                    buffers[entry.fd] = nil
                    // No change is announced to a descriptor that is closed.
                    state.withLock { state in
                        state.clients[entry.fd] = nil
                        state.spoiled.remove(entry.fd)
                        close(entry.fd)
                    }
                }
            }
        }
        close(listener)
        Self.alive.subtract(1, ordering: .relaxed)
    }

    /// Answers what came; false at the end of the connection.
    private func serve(_ client: Int32, _ buffer: inout [UInt8]) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = recv(client, &chunk, chunk.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        buffer += chunk[..<count]
        while state.withLock({ $0.clients[client] }) == false {
            guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return true }
            let line = String(decoding: buffer[..<end], as: UTF8.self)
            buffer.removeSubrange(...end)
            if line.hasPrefix("\0AUTH EXTERNAL ") {
                Self.send(Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8), to: client)
            } else if line == "BEGIN\r" {
                state.withLock { $0.clients[client] = true }
            }
        }
        while true {
            do throws(BusFailure) {
                guard let length = try BusMessage.length(of: buffer[...]), length <= buffer.count else { return true }
                let call = try BusMessage(buffer[..<length])
                buffer.removeSubrange(..<length)
                if !answer(call, client) { return false }
            } catch {
                ledger.violation("the bus got no message: \(error)")
                return false
            }
        }
    }

    /// Answers a call; false to hang up instead.
    private func answer(_ call: BusMessage, _ client: Int32) -> Bool {
        let pause = state.withLock { state in
            state.isCalm || !state.random.one(in: 6) ? 0 : Int.random(in: 0...8_000, using: &state.random)
        }
        if pause > 0 { usleep(UInt32(pause)) }
        // What is answered is so until it has been sent.
        return state.withLock { state in
            var reply = BusMessage(.reply, serial: 1)
            reply.replySerial = call.serial
            let isQuestion = call.member == "Get"
            let fault = state.isCalm ? nil : Fault.random(isQuestion, &state.random)
            if let fault { ledger.fault("bus \(fault)") }
            var body = BusWriter()
            switch (fault, isQuestion) {
            case (.hangsUp, _): return false
            case (.refuses, _):
                // A question may fail, for lack of NetworkManager.
                if !isQuestion { state.spoiled.insert(client) }
                reply.kind = .error
                reply.errorName = "org.freedesktop.DBus.Error.ServiceUnknown"
            case (.lies, _):
                state.spoiled.insert(client)
                reply.signature = "v"
                body.put(signature: "s")
                body.put(text: "yes")
            case (nil, true):
                reply.signature = "v"
                body.put(signature: "u")
                body.put(state.cost.rawValue)
            case (nil, false):
                reply.signature = "s"
                body.put(text: ":1.1")
            }
            reply.body = body.bytes
            let isSent = Self.send(reply.encoded, to: client)
            let isRight = isQuestion && fault == nil && !state.spoiled.contains(client)
            if isSent, isRight { state.answered = state.changes }
            return isSent
        }
    }

    /// What a bus that is not calm may do.
    private enum Fault {
        case hangsUp, refuses, lies

        static func random(_ isQuestion: Bool, _ random: inout Seeded) -> Fault? {
            switch Int.random(in: 0..<(isQuestion ? 24 : 60), using: &random) {
            case 0: .hangsUp
            case 1, 2: .refuses
            case 3: isQuestion ? .lies : nil
            default: nil
            }
        }
    }

    private static var notice: BusMessage {
        var notice = BusMessage(.signal, serial: 7)
        notice.path = BusClient.path
        notice.interface = BusClient.properties
        notice.member = "PropertiesChanged"
        return notice
    }

    /// Sends at once, or ends the connection: a notice that is lost would never be missed.
    @discardableResult
    private static func send(_ bytes: [UInt8], to client: Int32) -> Bool {
        let count = Glibc.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        if count != bytes.count { shutdown(client, Int32(SHUT_RDWR)) }
        return count == bytes.count
    }
}

/// A folder with the machine's power supplies, as the kernel has it: one battery.
struct PowerFolder: Sendable {
    let path: String

    init(_ path: String) {
        self.path = path
        mkdir(path, 0o700)
        mkdir(path + "/BAT0", 0o700)
        writeFile(path + "/BAT0/type", Array("Battery\n".utf8))
        set(isOnBattery: false)
    }

    func set(isOnBattery: Bool) {
        writeFile(path + "/BAT0/status", Array((isOnBattery ? "Discharging\n" : "Charging\n").utf8))
    }
}
