/// An HTTP message as it is on the wire: a head of lines and a body.
public struct RawMessage: Sendable {
    /// The request or status line.
    public var start: String
    /// The fields in order, with their names as they came.
    public var fields: [(name: String, value: String)]
    /// The body.
    public var body: [UInt8]

    /// Reads a message whose head is whole; nil otherwise.
    public init?(_ bytes: [UInt8]) {
        guard let end = Self.headEnd(bytes) else { return nil }
        var lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
        guard !lines.isEmpty else { return nil }
        start = lines.removeFirst()
        fields = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (String(line[..<colon]), String(value))
        }
        body = Array(bytes[end...])
    }

    /// The status of a response, 0 for anything else.
    public var status: Int {
        let words = start.split(separator: " ")
        return words.count > 1 && words[0].hasPrefix("HTTP/") ? Int(words[1]) ?? 0 : 0
    }

    /// The target of a request.
    public var target: String {
        let words = start.split(separator: " ")
        return words.count > 1 ? String(words[1]) : ""
    }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The first field of a name, compared without case.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    /// The message as it goes on the wire.
    public var bytes: [UInt8] {
        let lines = [start] + fields.map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// Where the head with its empty line ends.
    static func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 3..<bytes.count
        where bytes[index] == 10 && bytes[index - 1] == 13 && bytes[index - 2] == 10 && bytes[index - 3] == 13 {
            return index + 1
        }
        return nil
    }
}

/// One request sent by hand, on a connection that ends with the response.
public enum RawExchange {
    /// Sends bytes as they are and reads until the server closes; nil when there was no response.
    public static func send(_ bytes: [UInt8], port: UInt16) async -> RawMessage? {
        await BackgroundThread.run {
            guard let connection = RawConnection(port: port) else { return nil }
            connection.send(bytes)
            return RawMessage(connection.receiveAll())
        }
    }

    /// Sends a request line and fields; `Host` and `Connection: close` are added.
    public static func send(
        _ line: String, fields: [String] = [], body: [UInt8] = [], port: UInt16
    ) async -> RawMessage? {
        let head = ["\(line) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + fields
        return await send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body, port: port)
    }
}
