import HTTPTypes

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
    init(decoding bytes: ArraySlice<UInt8>, format: RecordReader.Format = .present) throws(RecordReader.Damage) {
        var reader = RecordReader(bytes, format: format)
        self = try reader.value()
        guard reader.isAtEnd else { throw RecordReader.Damage() }
    }
}

/// Writes values as length-prefixed bytes: the format of this module's files.
struct RecordWriter {
    fileprivate(set) var bytes: [UInt8] = []

    /// Writes values one after another.
    mutating func put<each Value: Recordable>(_ value: repeat each Value) { repeat (each value).encode(to: &self) }

    /// Writes the number of bytes, then the bytes.
    mutating func put(content: some Collection<UInt8>) {
        put(content.count)
        bytes.append(contentsOf: content)
    }
}

/// Reads what a ``RecordWriter`` wrote; anything else is an error, never a trap.
struct RecordReader {
    /// The bytes are not in the expected format.
    struct Damage: Error {}

    /// The version of the values' format.
    enum Format {
        case present
        /// Background options end with the pinned keys.
        case withoutConditions
    }

    let format: Format
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>, format: Format = .present) {
        rest = bytes
        self.format = format
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func value<Value: Recordable>() throws(Damage) -> Value { try Value(&self) }

    /// Reads values one after another.
    mutating func values<each Value: Recordable>() throws(Damage) -> (repeat each Value) {
        (repeat try (each Value)(&self))
    }

    /// Reads the output of ``RecordWriter/put(content:)``.
    mutating func content() throws(Damage) -> ArraySlice<UInt8> { try take(value()) }

    /// The number of values that follow, each of which has at least one byte.
    fileprivate mutating func count() throws(Damage) -> Int {
        let count: Int = try value()
        guard (0...rest.count).contains(count) else { throw Damage() }
        return count
    }

    fileprivate mutating func take(_ count: Int) throws(Damage) -> ArraySlice<UInt8> {
        guard (0...rest.count).contains(count) else { throw Damage() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

// MARK: - Numbers and texts

extension UInt64: Recordable {
    func encode(to writer: inout RecordWriter) {
        for place in 0..<8 { writer.bytes.append(UInt8(truncatingIfNeeded: self >> (8 * place))) }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        self = try reader.take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension Int64: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(UInt64(bitPattern: self)) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) { self.init(bitPattern: try UInt64(&reader)) }
}

/// A number that is recorded as an `Int64`; one that does not fit its type is damage.
extension Recordable where Self: FixedWidthInteger {
    func encode(to writer: inout RecordWriter) { writer.put(Int64(self)) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        guard let number = Self(exactly: try Int64(&reader)) else { throw RecordReader.Damage() }
        self = number
    }
}

extension Int: Recordable {}
extension Int32: Recordable {}

extension Double: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(bitPattern) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) { self.init(bitPattern: try reader.value()) }
}

extension Bool: Recordable {
    func encode(to writer: inout RecordWriter) { writer.bytes.append(self ? 1 : 0) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.take(1).first {
        case 0: self = false
        case 1: self = true
        default: throw RecordReader.Damage()
        }
    }
}

extension String: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(content: utf8) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        guard let text = String(validating: try reader.content(), as: UTF8.self) else { throw RecordReader.Damage() }
        self = text
    }
}

extension Recordable where Self: RawRepresentable, RawValue: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(rawValue) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        guard let value = Self(rawValue: try reader.value()) else { throw RecordReader.Damage() }
        self = value
    }
}

/// A value that is recorded as its description.
protocol RecordedAsText: Recordable, LosslessStringConvertible {}

extension RecordedAsText {
    func encode(to writer: inout RecordWriter) { writer.put(description) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        guard let value = Self(try reader.value()) else { throw RecordReader.Damage() }
        self = value
    }
}

extension PublicKeyPin: RecordedAsText {}
extension HTTPField.Name: RecordedAsText {}

// MARK: - Collections

extension Optional: Recordable where Wrapped: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(self != nil)
        if let self { writer.put(self) }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        self = try reader.value() ? .some(try reader.value()) : nil
    }
}

extension Array: Recordable where Element: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(count)
        for value in self { writer.put(value) }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        self = []
        for _ in 0..<(try reader.count()) { append(try reader.value()) }
    }
}

extension Set: Recordable where Element: RecordedAsText {
    func encode(to writer: inout RecordWriter) { writer.put(sorted { $0.description < $1.description }) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) { self.init(try reader.value() as [Element]) }
}

// MARK: - Messages of HTTP

extension HTTPField: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(name)
        writer.put(content: unsafe withUnsafeBytesOfValue { unsafe Array($0) })
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let name: Name = try reader.value()
        let value = Array(try reader.content())
        self = unsafe value.withUnsafeBytes { unsafe HTTPField(name: name, lenientValue: $0) }
    }
}

extension HTTPFields: Recordable {
    /// More fields than any message has, and fewer than the limit of the collection.
    private static let mostFields = 10_000

    func encode(to writer: inout RecordWriter) { writer.put(Array(self)) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let fields: [HTTPField] = try reader.value()
        guard fields.count <= Self.mostFields else { throw RecordReader.Damage() }
        self.init(fields)
    }
}

extension HTTPRequest.Method: Recordable {}

extension HTTPRequest: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(method, scheme, authority, path, headerFields) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        self.init(
            method: try reader.value(), scheme: try reader.value(), authority: try reader.value(),
            path: try reader.value(), headerFields: try reader.value())
    }
}

extension HTTPResponse: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(status.code, status.reasonPhrase, headerFields) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let (code, reason): (Int, String) = try reader.values()
        guard (100...999).contains(code), HTTPField.isValidValue(reason) else { throw RecordReader.Damage() }
        self.init(status: Status(code: code, reasonPhrase: reason), headerFields: try reader.value())
    }
}
