/// The conversation with the system's bus in which NetworkManager's property `Metered` is read and watched; pure: bytes
/// in, bytes out.
///
/// libsystemd has a client for the bus too (sd-bus). It is not used because it reads messages of up to 128 MiB, waits up
/// to 90 s while it authenticates, and is missing where systemd is; what is needed of the protocol is less than the
/// declarations to load it. systemd-networkd is not asked: its interface (org.freedesktop.network1) has no such property.
///
/// A notice of a change is only the reason to ask again, so its content does not matter.
struct BusClient {
    /// NetworkManager's `Metered` (NMMetered).
    enum Cost: UInt32, Hashable {
        case unknown = 0
        /// A setting of the connection.
        case yes = 1
        /// A setting of the connection.
        case no = 2
        case guessYes = 3
        case guessNo = 4
    }

    private enum Stage: Hashable {
        case authenticating
        case greeting
        case talking
    }

    static let name = "org.freedesktop.NetworkManager"
    static let path = "/org/freedesktop/NetworkManager"
    static let properties = "org.freedesktop.DBus.Properties"
    private static let bus = "org.freedesktop.DBus"
    private static let longestLine = 1024

    /// The notices that are asked for: changed properties, and NetworkManager's start and end.
    private static let matches = [
        "type='signal',sender='\(name)',path='\(path)',interface='\(properties)',member='PropertiesChanged',"
            + "arg0='\(name)'",
        "type='signal',sender='\(bus)',interface='\(bus)',member='NameOwnerChanged',arg0='\(name)'",
    ]

    /// The last answer; ``Cost/unknown`` without NetworkManager.
    private(set) var cost = Cost.unknown
    private var stage = Stage.authenticating
    private var buffer: [UInt8] = []
    private var serial: UInt32 = 0
    /// The serials of the calls that must succeed.
    private var needed: Set<UInt32> = []
    /// The serial of the question that has no answer yet.
    private var question: UInt32?
    /// Whether there was a notice since that question.
    private var isOutdated = false

    /// Whether the bus owes an answer.
    var isWaiting: Bool { stage != .talking || question != nil || !needed.isEmpty }

    /// The bytes to send first: the authentication by the socket's credentials (EXTERNAL).
    static func opening(user: UInt32) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        let name = "\(user)".utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return [0] + Array("AUTH EXTERNAL ".utf8) + name + Array("\r\n".utf8)
    }

    /// Takes received bytes.
    ///
    /// - Returns: The bytes to send.
    /// - Throws: If the bus refuses or breaks its rules, after which nothing more can be asked.
    mutating func receive(_ bytes: ArraySlice<UInt8>) throws(BusFailure) -> [UInt8] {
        buffer += bytes
        var answer: [UInt8] = []
        if stage == .authenticating {
            guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else {
                guard buffer.count <= Self.longestLine else { throw .isInvalid }
                return []
            }
            guard buffer.starts(with: "OK ".utf8) else { throw BusFailure("it refuses this user") }
            buffer.removeSubrange(...end)
            stage = .greeting
            let hello = call("Hello", of: Self.bus, at: "/org/freedesktop/DBus", Self.bus)
            needed = [serial]
            answer += Array("BEGIN\r\n".utf8) + hello
        }
        while let length = try BusMessage.length(of: buffer[...]), length <= buffer.count {
            let message = try BusMessage(buffer[..<length])
            buffer.removeSubrange(..<length)
            answer += try take(message)
        }
        return answer
    }

    /// Asks again, or after the answer to the present question.
    ///
    /// - Returns: The bytes to send.
    mutating func ask() -> [UInt8] {
        guard stage == .talking, question == nil else {
            isOutdated = question != nil
            return []
        }
        let bytes = call("Get", of: Self.properties, at: Self.path, Self.name, [Self.name, "Metered"])
        question = serial
        isOutdated = false
        return bytes
    }

    private mutating func take(_ message: BusMessage) throws(BusFailure) -> [UInt8] {
        switch message.kind {
        case .reply, .error:
            guard let number = message.replySerial else { throw .isInvalid }
            if needed.remove(number) != nil {
                guard message.kind == .reply else {
                    throw BusFailure("it refuses a call: \((message.errorName ?? "").prefix(100))")
                }
                return stage == .greeting ? watch() : []
            }
            guard number == question else { return [] }
            question = nil
            if message.kind == .reply {
                guard let value = message.numberInVariant else {
                    throw BusFailure("NetworkManager's property has another type")
                }
                cost = Cost(rawValue: value) ?? .unknown
            } else {
                // Without NetworkManager.
                cost = .unknown
            }
            return isOutdated ? ask() : []
        case .signal:
            switch (message.interface, message.member) {
            case (Self.properties, "PropertiesChanged"), (Self.bus, "NameOwnerChanged"): return ask()
            default: return []
            }
        case .call: return []
        }
    }

    /// The calls after the greeting.
    private mutating func watch() -> [UInt8] {
        stage = .talking
        var bytes: [UInt8] = []
        for match in Self.matches {
            bytes += call("AddMatch", of: Self.bus, at: "/org/freedesktop/DBus", Self.bus, [match])
            needed.insert(serial)
        }
        return bytes + ask()
    }

    private mutating func call(
        _ member: String, of interface: String, at path: String, _ destination: String, _ texts: [String] = []
    ) -> [UInt8] {
        // 0 is no serial.
        serial = serial == .max ? 1 : serial + 1
        return BusMessage(call: member, of: interface, at: path, destination, serial: serial, texts: texts).encoded
    }
}
