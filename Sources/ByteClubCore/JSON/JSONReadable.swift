/// A value that can be read from JSON.
public protocol JSONReadable {
    /// Takes the value that comes next.
    ///
    /// - Throws: ``JSONError`` when it is of another kind or not valid.
    init(json: inout JSONReader) throws(JSONError)
}

/// A value that JSON holds as a string of a certain form.
protocol JSONTextReadable: JSONReadable {
    /// Reads the string; nil when it is not of the form.
    init?(_ text: String)
    /// What the string should have been, with its article.
    static var jsonForm: String { get }
}

extension JSONTextReadable {
    /// Takes a string of this form.
    public init(json: inout JSONReader) throws(JSONError) {
        guard let value = Self(try json.string()) else { throw JSONError(.invalid("not \(Self.jsonForm)")) }
        self = value
    }
}

extension String: JSONReadable {
    /// Takes a string.
    public init(json: inout JSONReader) throws(JSONError) { self = try json.string() }
}

extension Int64: JSONReadable {
    /// Takes a whole number.
    public init(json: inout JSONReader) throws(JSONError) { self = try json.integer() }
}

extension Bool: JSONReadable {
    /// Takes `true` or `false`.
    public init(json: inout JSONReader) throws(JSONError) { self = try json.bool() }
}

extension JSONReader {
    /// Reads an array of so many values at most; what has more is refused before it is all read.
    public mutating func values<Value: JSONReadable>(
        _ type: Value.Type = Value.self, atMost limit: Int
    ) throws(JSONError) -> [Value] {
        var values: [Value] = []
        try array { (json) throws(JSONError) in
            if values.count == limit { throw JSONError(.invalid("longer than \(limit) elements")) }
            // A long one gets all its memory at once: while an array grows, it is there twice.
            if values.count == 4_096 { values.reserveCapacity(limit) }
            values.append(try json.value())
        }
        return values
    }
}

extension Array: JSONReadable where Element: JSONReadable {
    /// Takes an array.
    public init(json: inout JSONReader) throws(JSONError) {
        self = []
        try json.array { (json) throws(JSONError) in append(try json.value()) }
    }
}
