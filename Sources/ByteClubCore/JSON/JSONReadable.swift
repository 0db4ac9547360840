/// A value that can be read from JSON.
public protocol JSONReadable {
    /// Reads the next value.
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
    /// Reads a string of this form.
    public init(json: inout JSONReader) throws(JSONError) {
        guard let value = Self(try json.string()) else { throw JSONError(.invalid("not \(Self.jsonForm)")) }
        self = value
    }
}

extension String: JSONReadable {
    /// Reads a string.
    public init(json: inout JSONReader) throws(JSONError) { self = try json.string() }
}

extension Int64: JSONReadable {
    /// Reads a whole number.
    public init(json: inout JSONReader) throws(JSONError) { self = try json.integer() }
}

extension Bool: JSONReadable {
    /// Reads `true` or `false`.
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
    /// Reads an array.
    public init(json: inout JSONReader) throws(JSONError) {
        self = []
        try json.array { (json) throws(JSONError) in append(try json.value()) }
    }
}

extension Optional {
    /// The value of an object's member that must be there.
    ///
    /// - Throws: ``JSONError`` of the member's name when there was none.
    package func required(_ name: String) throws(JSONError) -> Wrapped {
        guard let self else { throw JSONError(.missing(name)) }
        return self
    }
}

/// Why a text is not the JSON that was expected.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Problem: Hashable, Sendable {
        /// The text is no JSON in UTF-8, or nested too deep, seen at this byte.
        case broken(offset: Int)
        /// A value is not of the kind that belongs there.
        case otherKind
        /// An object has no member of this name.
        case missing(String)
        /// A value is of the right kind but not a valid one.
        case invalid(String)
    }

    /// The kind of error.
    public let problem: Problem
    /// The names and indices that lead to the value, from the outside in.
    public private(set) var path: [String] = []

    /// Creates an error at the value that is being read.
    public init(_ problem: Problem) {
        self.problem = problem
    }

    /// The same error, seen from the object or array around it.
    func inside(_ name: String) -> JSONError {
        var error = self
        // An unknown name may be as long as the text.
        error.path.insert(String(String.UnicodeScalarView(name.unicodeScalars.prefix(100))), at: 0)
        return error
    }

    /// A line for people that continues after "…: ".
    public var description: String {
        let place = path.joined(separator: ".")
        return switch problem {
        case .broken(let offset): "invalid JSON at byte \(offset)"
        case .otherKind: path.isEmpty ? "it is of another type" : "'\(place)' is of another type"
        case .missing(let name): path.isEmpty ? "it has no '\(name)'" : "'\(place)' has no '\(name)'"
        case .invalid(let reason): path.isEmpty ? "it is \(reason)" : "'\(place)' is \(reason)"
        }
    }
}
