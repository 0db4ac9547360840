import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

/// A bus with a NetworkManager whose answer a test changes, or one with a fault.
final class StandInBus: Sendable {
    enum Fault: CaseIterable {
        case hangsAtLogin, hangsAtHello, hangsAtQuestion, refusesLogin, refusesHello, wrongType, wrongNumber
        case hasNoNetworkManager, isEndless, isNoBus, floods, closes
    }

    private struct State {
        var metered: UInt32
        var clients: Set<Int32> = []
        var connections = 0
        var questions = 0
    }

    let path: String
    private let descriptor: Int32
    private let fault: Fault?
    private let state: Mutex<State>
    private let changes = Changes()

    /// Listens at a path; nil if it cannot.
    init?(_ path: String, metered: BusClient.Cost, _ fault: Fault? = nil) {
        self.path = path
        self.fault = fault
        state = Mutex(State(metered: metered.rawValue))
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard let address = try? UnixAddress(path),
            unsafe address.withPointer({ unsafe bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0
        else { return nil }
        BackgroundThread.start { [self] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                state.withLock { state in
                    state.clients.insert(client)
                    state.connections += 1
                }
                changes.notify()
                BackgroundThread.start { [self] in serve(client) }
            }
        }
    }

    deinit { close(descriptor) }

    var address: String { "unix:path=\(path)" }
    var connections: Int { state.withLock { $0.connections } }

    /// Where a session or daemon reads the conditions: this bus, and no power supplies unless a folder is given.
    func source(power: String = "/nonexistent", patience: Duration = .seconds(60)) -> ConditionsSource {
        var source = ConditionsSource(bus: address)
        (source.powerFolder, source.patience) = (power, patience)
        source.powerInterval = .milliseconds(5)
        return source
    }

    /// Returns once the property was read so often.
    func asked(_ count: Int) async { await changes.wait { self.state.withLock { $0.questions } >= count } }

    /// Changes the property and announces that.
    func change(to metered: BusClient.Cost) {
        state.withLock { state in
            state.metered = metered.rawValue
            for client in state.clients { Self.send(Self.notice.encoded, to: client) }
        }
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        state.withLock { for client in $0.clients { shutdown(client, Int32(SHUT_RDWR)) } }
    }

    private static var notice: BusMessage {
        var notice = BusMessage(.signal, serial: 7)
        notice.path = BusClient.path
        notice.interface = BusClient.properties
        notice.member = "PropertiesChanged"
        return notice
    }

    private static func send(_ bytes: [UInt8], to client: Int32) {
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    private func serve(_ client: Int32) {
        defer {
            _ = state.withLock { $0.clients.remove(client) }
            close(client)
        }
        var (buffer, isLoggedIn) = ([UInt8](), false)
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = unsafe recv(client, &chunk, chunk.count, 0), count > 0 {
            buffer += chunk[..<count]
            while !isLoggedIn, let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                isLoggedIn = line == "BEGIN\r"
                if line.hasPrefix("\0AUTH EXTERNAL ") { logIn(client) }
            }
            guard isLoggedIn else { continue }
            while let length = try? BusMessage.length(of: buffer[...]), length <= buffer.count {
                guard let message = try? BusMessage(buffer[..<length]) else { return }
                buffer.removeSubrange(..<length)
                if !answer(message, client) { return }
            }
        }
    }

    private func logIn(_ client: Int32) {
        switch fault {
        case .hangsAtLogin: break
        case .refusesLogin: Self.send(Array("REJECTED EXTERNAL\r\n".utf8), to: client)
        case .isNoBus: Self.send(Array(repeating: UInt8(ascii: "x"), count: 5000), to: client)
        default: Self.send(Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8), to: client)
        }
    }

    /// Answers a call; false to close the connection.
    private func answer(_ call: BusMessage, _ client: Int32) -> Bool {
        var reply = BusMessage(.reply, serial: 1)
        reply.replySerial = call.serial
        var body = BusWriter()
        switch (call.member, fault) {
        case ("Hello", .hangsAtHello), ("Get", .hangsAtQuestion): return true
        case ("Hello", .refusesHello), ("Get", .hasNoNetworkManager):
            reply.kind = .error
            reply.errorName = "org.freedesktop.DBus.Error.Failed"
        case ("Hello", .isEndless):
            // The head of a message of 128 MiB, and more than is read of one.
            Self.send([UInt8(ascii: "l"), 2, 0, 1, 0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0], to: client)
            Self.send([UInt8](repeating: 0, count: 100_000), to: client)
            return true
        case ("Get", .floods):
            let notices = [[UInt8]](repeating: Self.notice.encoded, count: 50).flatMap { $0 }
            for _ in 0..<1000 { Self.send(notices, to: client) }
            return true
        case ("Get", .closes): return false
        case ("Get", .wrongType):
            reply.signature = "v"
            body.put(signature: "s")
            body.put(text: "yes")
        case ("Get", _):
            reply.signature = "v"
            body.put(signature: "u")
            body.put(fault == .wrongNumber ? 77 : state.withLock { $0.metered })
        default:
            reply.signature = "s"
            body.put(text: ":1.1")
        }
        reply.body = body.bytes
        if call.member == "Get" {
            state.withLock { $0.questions += 1 }
            changes.notify()
        }
        Self.send(reply.encoded, to: client)
        return true
    }
}

/// Runs a test with a folder and a bus in it.
func withBus(
    _ metered: BusClient.Cost, _ fault: StandInBus.Fault? = nil,
    _ body: (StandInBus, TemporaryFolder) async throws -> Void
) async throws {
    let folder = TemporaryFolder()
    let bus = try #require(StandInBus(folder.file("bus"), metered: metered, fault))
    defer { bus.stop() }
    try await body(bus, folder)
}
