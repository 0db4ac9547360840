/// Reads a JSON text (RFC 8259) from bytes in memory, value after value in the text's order, without a tree between.
///
/// The wire's objects are read thousands of times a second and once in every short command, where Foundation's decoder
/// shows: it finds each field through conformances that it looks up at run time.
///
/// Each call reads one value; a value of another type is an error that names its place.
public struct JSONReader: Sendable {
    private static let deepest = 128

    let bytes: [UInt8]
    var place = 0
    private var depth = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads a text that is one value and nothing else.
    ///
    /// - Throws: ``JSONError`` when it is no JSON in UTF-8, or has another type.
    public static func read<Value: JSONReadable>(
        _ type: Value.Type = Value.self, from bytes: [UInt8]
    ) throws(JSONError) -> Value {
        var reader = JSONReader(bytes)
        let value = try Value(json: &reader)
        if reader.peek() != nil { throw reader.broken }
        return value
    }

    /// Reads a value of a type.
    public mutating func value<Value: JSONReadable>(_ type: Value.Type = Value.self) throws(JSONError) -> Value {
        try Value(json: &self)
    }

    /// Reads a value of a type or `null`.
    public mutating func optional<Value: JSONReadable>(_ type: Value.Type = Value.self) throws(JSONError) -> Value? {
        if try takeNull() { return nil }
        return try Value(json: &self)
    }

    /// Reads `null` if it is the next value.
    private mutating func takeNull() throws(JSONError) -> Bool {
        guard peek() == UInt8(ascii: "n") else { return false }
        try take(word: "null")
        return true
    }

    /// Whether the next value is a string.
    public mutating func startsString() -> Bool { peek() == UInt8(ascii: "\"") }

    /// Reads an object: `member` is called for each name, and must take the value or ``skip()`` it.
    public mutating func object(
        _ member: (inout JSONReader, String) throws(JSONError) -> Void
    ) throws(JSONError) {
        try enter(UInt8(ascii: "{"))
        if try leave(UInt8(ascii: "}")) { return }
        repeat {
            guard startsString() else { throw broken }
            let name = try string()
            try take(UInt8(ascii: ":"))
            do {
                try member(&self, name)
            } catch {
                throw error.inside(name)
            }
        } while try goesOn(until: UInt8(ascii: "}"))
    }

    /// Reads an object of which one member matters, which must be there: `value` reads it.
    package mutating func member<Value>(
        _ wanted: String, _ value: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        var found: Value?
        try object { (json, name) throws(JSONError) in
            if name == wanted { found = try value(&json) } else { try json.skip() }
        }
        return try found.required(wanted)
    }

    /// Reads an array: `element` is called for each element and must take it.
    public mutating func array(_ element: (inout JSONReader) throws(JSONError) -> Void) throws(JSONError) {
        try enter(UInt8(ascii: "["))
        if try leave(UInt8(ascii: "]")) { return }
        var index = 0
        repeat {
            do {
                try element(&self)
            } catch {
                throw error.inside(String(index))
            }
            index += 1
        } while try goesOn(until: UInt8(ascii: "]"))
    }

    /// Skips a value of any type.
    public mutating func skip() throws(JSONError) {
        switch peek() {
        case UInt8(ascii: "{"): try object { (json, _) throws(JSONError) in try json.skip() }
        case UInt8(ascii: "["): try array { (json) throws(JSONError) in try json.skip() }
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
        case UInt8(ascii: "n"): try take(word: "null")
        default: _ = try number()
        }
    }

    /// Reads `true` or `false`.
    public mutating func bool() throws(JSONError) -> Bool {
        switch peek() {
        case UInt8(ascii: "t"): try take(word: "true")
        case UInt8(ascii: "f"): try take(word: "false")
        default: throw otherKind
        }
        return bytes[place - 2] == UInt8(ascii: "u")
    }

    // MARK: Tokens

    /// The error for a text that is no JSON here.
    var broken: JSONError { JSONError(.broken(offset: place)) }

    /// The error for a value of another type, or for no value at all.
    var otherKind: JSONError {
        guard place < bytes.count else { return broken }
        switch bytes[place] {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "t"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return JSONError(.otherKind)
        default: return broken
        }
    }

    /// The next byte that is not blank; nil at the end.
    mutating func peek() -> UInt8? {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x09, 0x0A, 0x0D: place += 1
            case let byte: return byte
            }
        }
        return nil
    }

    mutating func take(_ byte: UInt8) throws(JSONError) {
        guard peek() == byte else { throw broken }
        place += 1
    }

    private mutating func take(word: StaticString) throws(JSONError) {
        for byte in "\(word)".utf8 {
            guard place < bytes.count, bytes[place] == byte else { throw broken }
            place += 1
        }
    }

    private mutating func enter(_ bracket: UInt8) throws(JSONError) {
        guard peek() == bracket else { throw otherKind }
        guard depth < Self.deepest else { throw broken }
        depth += 1
        place += 1
    }

    private mutating func leave(_ bracket: UInt8) throws(JSONError) -> Bool {
        guard peek() == bracket else { return false }
        depth -= 1
        place += 1
        return true
    }

    private mutating func goesOn(until bracket: UInt8) throws(JSONError) -> Bool {
        if try leave(bracket) { return false }
        try take(UInt8(ascii: ","))
        return true
    }
}
