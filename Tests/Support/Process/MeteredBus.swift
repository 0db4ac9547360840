import Glibc
import Synchronization

/// A system bus with NetworkManager's property `Metered`, which a test sets; for programs that are given its address.
///
/// It speaks as much of D-Bus as one client needs, and no code of the library: it answers each call, and announces each
/// change to all clients.
public final class MeteredBus: Sendable {
    private struct State {
        var metered: UInt32
        var clients: Set<Int32> = []
        var questions = 0
    }

    private let path: String
    private let descriptor: Int32
    private let state: Mutex<State>

    /// Listens at a path, which must be short enough for a socket; nil if it cannot.
    public init?(_ path: String, isMetered: Bool) {
        self.path = path
        state = Mutex(State(metered: Self.cost(isMetered)))
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard descriptor >= 0, path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let listening = self.descriptor
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(listening, 8) == 0 else { return nil }
        BackgroundThread.start { [self] in
            while case let client = accept(listening, nil, nil), client >= 0 {
                _ = state.withLock { $0.clients.insert(client) }
                BackgroundThread.start { [self] in serve(client) }
            }
            close(listening)
        }
    }

    /// What a program is given to use it.
    public var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)"] }

    /// How often the property was read.
    public var questions: Int { state.withLock { $0.questions } }

    /// Sets the property, and announces that.
    public func set(isMetered: Bool) {
        let notice = Self.message(
            type: 4,
            [
                Self.field(1, "o", "/org/freedesktop/NetworkManager"),
                Self.field(2, "s", "org.freedesktop.DBus.Properties"), Self.field(3, "s", "PropertiesChanged"),
            ])
        state.withLock { state in
            state.metered = Self.cost(isMetered)
            for client in state.clients { Self.send(notice, to: client) }
        }
    }

    /// Ends it, with all connections.
    public func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        state.withLock { for client in $0.clients { shutdown(client, Int32(SHUT_RDWR)) } }
    }

    /// NMMetered: yes, or no.
    private static func cost(_ isMetered: Bool) -> UInt32 { isMetered ? 1 : 2 }

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
                if line.contains("AUTH ") {
                    Self.send(Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8), to: client)
                }
                isLoggedIn = line == "BEGIN\r"
            }
            while isLoggedIn, buffer.count >= 16 {
                let (body, serial) = (Int(Self.number(buffer[4..<8])), Array(buffer[8..<12]))
                let fields = Int(Self.number(buffer[12..<16]))
                let length = 16 + (fields + 7) / 8 * 8 + body
                guard length <= buffer.count else { break }
                let head = String(decoding: buffer[16..<(16 + fields)], as: UTF8.self)
                buffer.removeSubrange(..<length)
                Self.send(answer(isQuestion: head.contains("Get\0"), to: serial), to: client)
            }
        }
    }

    /// The reply to a call: the property's value, or a text.
    private func answer(isQuestion: Bool, to serial: [UInt8]) -> [UInt8] {
        let call: [UInt8] = [5, 1, UInt8(ascii: "u"), 0] + serial
        let signature = { (kind: Character) -> [UInt8] in [8, 1, UInt8(ascii: "g"), 0, 1] + Array("\(kind)\0".utf8) }
        guard isQuestion else { return Self.message(type: 2, [call, signature("s")], body: Self.text(":1.1")) }
        let value = state.withLock { state in
            state.questions += 1
            return state.metered
        }
        // A variant of a number.
        let body: [UInt8] = [1, UInt8(ascii: "u"), 0, 0] + Self.bytes(value)
        return Self.message(type: 2, [call, signature("v")], body: body)
    }

    private static func field(_ code: UInt8, _ kind: Character, _ value: String) -> [UInt8] {
        [code, 1] + Array("\(kind)\0".utf8) + text(value)
    }

    /// A message (D-Bus specification, "Message Format"), little-endian, of protocol version 1.
    private static func message(type: UInt8, _ fields: [[UInt8]], body: [UInt8] = []) -> [UInt8] {
        var all: [UInt8] = []
        for field in fields { all += padding(all.count) + field }
        let head = [UInt8(ascii: "l"), type, 1, 1] + bytes(UInt32(body.count)) + bytes(7) + bytes(UInt32(all.count))
        return head + all + padding(all.count) + body
    }

    private static func padding(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: (8 - count % 8) % 8) }

    private static func text(_ text: String) -> [UInt8] { bytes(UInt32(text.utf8.count)) + Array(text.utf8) + [0] }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func send(_ bytes: [UInt8], to client: Int32) {
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}
