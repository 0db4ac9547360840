import HTTPTypes

/// Writes values as length-prefixed bytes: the format of this module's files.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ number: Int64) {
        var rest = UInt64(bitPattern: number)
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func put(_ content: some Collection<UInt8>) {
        put(Int64(content.count))
        bytes.append(contentsOf: content)
    }

    mutating func put(_ text: String) { put(text.utf8) }

    mutating func put(_ value: some Recordable) { value.encode(to: &self) }

    /// Writes the number of values, then each value.
    mutating func put<Value>(each values: some Collection<Value>, _ put: (inout RecordWriter, Value) -> Void) {
        self.put(Int64(values.count))
        for value in values { put(&self, value) }
    }

    /// Writes whether there is a value, then the value.
    mutating func put<Value>(optional value: Value?, _ put: (inout RecordWriter, Value) -> Void) {
        self.put(value != nil)
        if let value { put(&self, value) }
    }

    mutating func put(optional number: Int64?) { put(optional: number) { $0.put($1) } }
    mutating func put(optional text: String?) { put(optional: text) { $0.put($1) } }
    mutating func put(each values: [some Recordable]) { put(each: values) { $0.put($1) } }
}

/// A value with one binary format for files and messages.
protocol Recordable {
    func encode(to writer: inout RecordWriter)

    /// Reads what ``encode(to:)`` wrote.
    init(_ reader: inout RecordReader) throws(RecordReader.Damage)
}

extension Recordable {
    /// The value's bytes.
    var encoded: [UInt8] {
        var writer = RecordWriter()
        writer.put(self)
        return writer.bytes
    }

    /// Reads a value from all of the bytes; extra bytes count as damage.
    init(decoding bytes: ArraySlice<UInt8>) throws(RecordReader.Damage) {
        var reader = RecordReader(bytes)
        self = try Self(&reader)
        guard reader.isAtEnd else { throw RecordReader.Damage() }
    }
}

/// Reads what a ``RecordWriter`` wrote; anything else is an error, never a trap.
struct RecordReader {
    /// The bytes are not in the expected format.
    struct Damage: Error {}

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() throws(Damage) -> Int64 {
        var value: UInt64 = 0
        for byte in try take(8).reversed() { value = value << 8 | UInt64(byte) }
        return Int64(bitPattern: value)
    }

    mutating func flag() throws(Damage) -> Bool {
        switch try take(1).first {
        case 0: false
        case 1: true
        default: throw Damage()
        }
    }

    mutating func content() throws(Damage) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: try number()) else { throw Damage() }
        return try take(count)
    }

    mutating func text() throws(Damage) -> String {
        guard let text = String(validating: try content(), as: UTF8.self) else { throw Damage() }
        return text
    }

    /// A number that does not fit its type is damage.
    mutating func number<Number: BinaryInteger>(as type: Number.Type) throws(Damage) -> Number {
        guard let number = Number(exactly: try number()) else { throw Damage() }
        return number
    }

    /// A number below zero is damage.
    mutating func count() throws(Damage) -> Int64 {
        let number = try number()
        guard number >= 0 else { throw Damage() }
        return number
    }

    mutating func value<Value: Recordable>() throws(Damage) -> Value { try Value(&self) }

    /// Reads the output of ``RecordWriter/put(each:_:)``; each value has at least one byte.
    mutating func values<Value>(
        _ value: (inout RecordReader) throws(Damage) -> Value
    ) throws(Damage) -> [Value] {
        let count = try number()
        guard count >= 0, count <= rest.count else { throw Damage() }
        var values: [Value] = []
        for _ in 0..<count { values.append(try value(&self)) }
        return values
    }

    mutating func values<Value: Recordable>() throws(Damage) -> [Value] {
        try values { reader throws(Damage) in try Value(&reader) }
    }

    /// Reads the output of ``RecordWriter/put(optional:_:)``.
    mutating func optional<Value>(
        _ value: (inout RecordReader) throws(Damage) -> Value
    ) throws(Damage) -> Value? {
        try flag() ? try value(&self) : nil
    }

    mutating func optionalNumber() throws(Damage) -> Int64? {
        try optional { reader throws(Damage) in try reader.number() }
    }

    mutating func optionalText() throws(Damage) -> String? {
        try optional { reader throws(Damage) in try reader.text() }
    }

    private mutating func take(_ count: Int) throws(Damage) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw Damage() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

extension HTTPFields: Recordable {
    /// More fields than any message has, and fewer than the limit of the collection.
    private static let mostFields = 10_000

    func encode(to writer: inout RecordWriter) {
        writer.put(each: self) { writer, field in
            writer.put(field.name.rawName)
            writer.put(unsafe field.withUnsafeBytesOfValue { unsafe Array($0) })
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let fields = try reader.values { reader throws(RecordReader.Damage) in
            guard let name = HTTPField.Name(try reader.text()) else { throw RecordReader.Damage() }
            let value = Array(try reader.content())
            return unsafe value.withUnsafeBytes { unsafe HTTPField(name: name, lenientValue: $0) }
        }
        guard fields.count <= Self.mostFields else { throw RecordReader.Damage() }
        self.init(fields)
    }
}

extension HTTPRequest: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(method.rawValue)
        for part in [scheme, authority, path] { writer.put(optional: part) }
        writer.put(headerFields)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        guard let method = Method(try reader.text()) else { throw RecordReader.Damage() }
        let (scheme, authority, path) = (
            try reader.optionalText(), try reader.optionalText(), try reader.optionalText()
        )
        self.init(
            method: method, scheme: scheme, authority: authority, path: path, headerFields: try reader.value())
    }
}

extension HTTPResponse: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(Int64(status.code))
        writer.put(status.reasonPhrase)
        writer.put(headerFields)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let code = try reader.number(as: Int.self)
        let reason = try reader.text()
        guard (100...999).contains(code), HTTPField.isValidValue(reason) else { throw RecordReader.Damage() }
        self.init(status: Status(code: code, reasonPhrase: reason), headerFields: try reader.value())
    }
}

extension PublicKeyPin: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(description) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        guard let pin = PublicKeyPin(try reader.text()) else { throw RecordReader.Damage() }
        self = pin
    }
}
