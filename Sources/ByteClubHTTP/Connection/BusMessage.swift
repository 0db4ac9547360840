/// Why the system's bus cannot be asked.
struct BusFailure: Error, Hashable {
    /// A part of a sentence, for people.
    var reason: String

    init(_ reason: String) { self.reason = reason }

    /// The bus sent bytes that break its rules.
    static let isInvalid = BusFailure("it sends bytes that are no message")
}

/// A message of D-Bus in the little-endian format (D-Bus Specification, "Message Protocol"), as far as this module needs
/// it: header fields that are texts or numbers, and a body that stays bytes.
struct BusMessage: Hashable {
    enum Kind: UInt8 {
        case call = 1
        case reply = 2
        case error = 3
        case signal = 4
    }

    /// The longest message that is read; a bus allows 128 MiB.
    static let longest = 64 << 10
    /// The length of the part with the lengths of all others.
    static let headLength = 16
    /// A call with this flag does not start the program that would answer it.
    static let noAutoStart: UInt8 = 2

    var kind: Kind
    var serial: UInt32
    var flags: UInt8 = 0
    var path: String?
    var interface: String?
    var member: String?
    var errorName: String?
    /// The serial of the call that is answered.
    var replySerial: UInt32?
    var destination: String?
    /// The types of the body.
    var signature = ""
    var body: [UInt8] = []

    init(_ kind: Kind, serial: UInt32) {
        self.kind = kind
        self.serial = serial
    }

    /// A call.
    init(
        call member: String, of interface: String, at path: String, _ destination: String, serial: UInt32,
        texts: [String] = []
    ) {
        self.init(.call, serial: serial)
        flags = Self.noAutoStart
        (self.member, self.interface, self.path, self.destination) = (member, interface, path, destination)
        signature = String(repeating: "s", count: texts.count)
        var writer = BusWriter()
        for text in texts { writer.put(text: text) }
        body = writer.bytes
    }

    /// The message as it is sent.
    var encoded: [UInt8] {
        var fields = BusWriter()
        func put(_ code: UInt8, _ type: String, _ value: (inout BusWriter) -> Void) {
            fields.align(to: 8)
            fields.put(code)
            fields.put(signature: type)
            value(&fields)
        }
        if let path { put(1, "o") { $0.put(text: path) } }
        if let interface { put(2, "s") { $0.put(text: interface) } }
        if let member { put(3, "s") { $0.put(text: member) } }
        if let errorName { put(4, "s") { $0.put(text: errorName) } }
        if let replySerial { put(5, "u") { $0.put(replySerial) } }
        if let destination { put(6, "s") { $0.put(text: destination) } }
        if !signature.isEmpty { put(8, "g") { $0.put(signature: signature) } }
        var writer = BusWriter()
        for byte in [UInt8(ascii: "l"), kind.rawValue, flags, 1] { writer.put(byte) }
        writer.put(UInt32(truncatingIfNeeded: body.count))
        writer.put(serial)
        writer.put(UInt32(truncatingIfNeeded: fields.bytes.count))
        // The fields begin at a multiple of 8, so their padding is right.
        return writer.bytes + fields.bytes + [UInt8](repeating: 0, count: fields.bytes.count.padding(to: 8)) + body
    }

    /// The length of the message that begins with the bytes; nil if they are too few to know it.
    static func length(of bytes: ArraySlice<UInt8>) throws(BusFailure) -> Int? {
        guard bytes.count >= headLength else { return nil }
        var reader = BusReader(bytes)
        let (order, _, _, version) = (try reader.byte(), try reader.byte(), try reader.byte(), try reader.byte())
        guard order == UInt8(ascii: "l"), version == 1 else { throw .isInvalid }
        let body = Int(try reader.number())
        _ = try reader.number()
        let fields = Int(try reader.number())
        let length = headLength + fields + fields.padding(to: 8) + body
        guard length <= longest else { throw BusFailure("it sends a message of \(length) bytes") }
        return length
    }

    /// Reads one whole message.
    init(_ bytes: ArraySlice<UInt8>) throws(BusFailure) {
        guard try Self.length(of: bytes) == bytes.count else { throw .isInvalid }
        var reader = BusReader(bytes)
        _ = try reader.byte()
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .isInvalid }
        self.kind = kind
        flags = try reader.byte()
        _ = try reader.byte()
        let bodyLength = Int(try reader.number())
        serial = try reader.number()
        let end = Self.headLength + Int(try reader.number())
        while reader.position < end {
            try reader.align(to: 8)
            let code = try reader.byte()
            switch (code, try reader.signature()) {
            case (1, "o"): path = try reader.text()
            case (2, "s"): interface = try reader.text()
            case (3, "s"): member = try reader.text()
            case (4, "s"): errorName = try reader.text()
            case (5, "u"): replySerial = try reader.number()
            case (6, "s"): destination = try reader.text()
            case (8, "g"): signature = try reader.signature()
            // Others do not matter, such as the sender.
            case (7, "s"): _ = try reader.text()
            case (9..., "s"), (9..., "o"): _ = try reader.text()
            case (9..., "u"): _ = try reader.number()
            default: throw .isInvalid
            }
        }
        guard reader.position == end else { throw .isInvalid }
        try reader.align(to: 8)
        body = Array(try reader.take(bodyLength))
    }

    /// The number in a body that is a variant (`v`) of a number (`u`).
    var numberInVariant: UInt32? {
        guard signature == "v" else { return nil }
        var reader = BusReader(body[...])
        guard (try? reader.signature()) == "u", let number = try? reader.number(), reader.isAtEnd else { return nil }
        return number
    }
}

/// Writes values in the format of D-Bus.
struct BusWriter {
    private(set) var bytes: [UInt8] = []

    mutating func align(to size: Int) { for _ in 0..<bytes.count.padding(to: size) { bytes.append(0) } }

    mutating func put(_ byte: UInt8) { bytes.append(byte) }

    mutating func put(_ number: UInt32) {
        align(to: 4)
        for place in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }

    mutating func put(text: String) {
        put(UInt32(truncatingIfNeeded: text.utf8.count))
        bytes += text.utf8
        bytes.append(0)
    }

    mutating func put(signature: String) {
        bytes.append(UInt8(truncatingIfNeeded: signature.utf8.count))
        bytes += signature.utf8
        bytes.append(0)
    }
}

/// Reads values in the format of D-Bus; anything else is an error.
struct BusReader {
    private let bytes: ArraySlice<UInt8>
    /// The distance from the start, by which values are aligned.
    private(set) var position = 0

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ count: Int) throws(BusFailure) -> ArraySlice<UInt8> {
        guard (0...(bytes.count - position)).contains(count) else { throw .isInvalid }
        defer { position += count }
        return bytes.dropFirst(position).prefix(count)
    }

    mutating func align(to size: Int) throws(BusFailure) {
        guard try take(position.padding(to: size)).allSatisfy({ $0 == 0 }) else { throw .isInvalid }
    }

    mutating func byte() throws(BusFailure) -> UInt8 {
        guard let byte = try take(1).first else { throw .isInvalid }
        return byte
    }

    mutating func number() throws(BusFailure) -> UInt32 {
        try align(to: 4)
        return try take(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func text() throws(BusFailure) -> String {
        let count = Int(try number())
        return try terminated(count)
    }

    mutating func signature() throws(BusFailure) -> String {
        let count = Int(try byte())
        return try terminated(count)
    }

    private mutating func terminated(_ count: Int) throws(BusFailure) -> String {
        let content = try take(count)
        guard !content.contains(0), let text = String(validating: content, as: UTF8.self), try byte() == 0 else {
            throw .isInvalid
        }
        return text
    }
}

extension Int {
    /// How many bytes follow this many up to the next multiple of a size.
    fileprivate func padding(to size: Int) -> Int { (size - self % size) % size }
}
