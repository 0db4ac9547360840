/// Values one after another in bytes, each with its length: the form of what this module keeps in files.
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

    /// Values after how many there are.
    mutating func put<Value>(each values: some Collection<Value>, _ put: (inout RecordWriter, Value) -> Void) {
        self.put(Int64(values.count))
        for value in values { put(&self, value) }
    }

    /// A value after whether there is one.
    mutating func put<Value>(optional value: Value?, _ put: (inout RecordWriter, Value) -> Void) {
        self.put(value != nil)
        if let value { put(&self, value) }
    }

    mutating func put(optional number: Int64?) { put(optional: number) { $0.put($1) } }
    mutating func put(optional text: String?) { put(optional: text) { $0.put($1) } }
    mutating func put(each values: [some Recordable]) { put(each: values) { $0.put($1) } }
}

/// What has one form in bytes, wherever it is kept or sent.
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

    /// Reads all of a value's bytes; some that are left over are damage.
    init(decoding bytes: ArraySlice<UInt8>) throws(RecordReader.Damage) {
        var reader = RecordReader(bytes)
        self = try Self(&reader)
        guard reader.isAtEnd else { throw RecordReader.Damage() }
    }
}

/// Reads what a ``RecordWriter`` wrote; anything else is an error, never a trap.
struct RecordReader {
    /// The bytes are not what was to be read.
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

    /// What ``RecordWriter/put(each:_:)`` wrote; each value has at least one byte.
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

    /// What ``RecordWriter/put(optional:_:)`` wrote.
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
