import ByteClubCore

/// The named values of a call, from its query and its form; an empty value counts as absent.
struct Parameters: Sendable {
    /// All of them, in the order in which they came, a form's first.
    private(set) var pairs: [(name: String, value: String)]

    /// The most values of a query or a form.
    private static let maximumCount = 1000

    /// No values at all.
    static let none = Parameters(pairs: [])

    private init(pairs: [(name: String, value: String)]) {
        self.pairs = pairs
    }

    /// Reads a query, without its question mark.
    ///
    /// - Throws: ``APIError`` 400 for a malformed escape and for bytes that are no UTF-8.
    init(query: Substring) throws(APIError) {
        pairs = try Self.read(query.utf8, from: "query")
    }

    /// Adds the values of a form, which override those of the query.
    ///
    /// - Throws: ``APIError`` 400 for a malformed escape and for bytes that are not UTF-8.
    mutating func add(form: some Collection<UInt8>) throws(APIError) {
        pairs.insert(contentsOf: try Self.read(form, from: "form"), at: 0)
    }

    private static func read(
        _ text: some Collection<UInt8>, from source: String
    ) throws(APIError) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        if text.isEmpty { return pairs }
        for field in text.split(separator: UInt8(ascii: "&")) {
            if pairs.count == maximumCount { throw APIError(400, "the \(source) has over \(maximumCount) values") }
            let halves = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves.first.flatMap({ PercentEncoding.decode($0, plusIsBlank: true) }),
                let value = PercentEncoding.decode(halves.dropFirst().first ?? field.prefix(0), plusIsBlank: true)
            else { throw APIError(400, "the \(source) is not percent-encoded UTF-8") }
            // Databases and file systems end a text at a NUL: the checked text must be the one that they look up.
            guard !name.utf8.contains(0), !value.utf8.contains(0) else {
                throw APIError(400, "the \(source) contains a NUL")
            }
            pairs.append((name, value))
        }
        return pairs
    }

    /// The value of a parameter; nil when it is absent or empty.
    subscript(_ name: String) -> String? {
        pairs.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// The value of a parameter that may be empty.
    func value(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// The value of a parameter that must be there.
    ///
    /// - Throws: ``APIError`` 400 naming the parameter.
    func required(_ name: String) throws(APIError) -> String { try Self.required(name, self[name]) }

    /// The value that a parameter that must be there has.
    ///
    /// - Throws: ``APIError`` 400 naming the parameter.
    static func required<T>(_ name: String, _ value: T?) throws(APIError) -> T {
        guard let value else { throw APIError(400, "the parameter is missing", parameter: name) }
        return value
    }

    /// The value that a text has; nil when the parameter is absent.
    ///
    /// - Throws: ``APIError`` 400 with the problem of a text that has none.
    func value<T>(
        _ name: String, or problem: @autoclosure () -> String, _ read: (String) -> T?
    ) throws(APIError) -> T? {
        guard let text = self[name] else { return nil }
        guard let value = read(text) else { throw APIError(400, problem(), parameter: name) }
        return value
    }

    /// `true`, `false` in any letter case, `1` or `0`.
    ///
    /// - Throws: ``APIError`` 400 for anything else.
    func bool(_ name: String, default fallback: Bool) throws(APIError) -> Bool {
        switch self[name]?.lowercased() {
        case nil: return fallback
        case "true"?, "1"?: return true
        case "false"?, "0"?: return false
        default: throw APIError(400, "expected true or false", parameter: name)
        }
    }

    /// A decimal number within limits.
    ///
    /// - Throws: ``APIError`` 400 for anything else.
    func integer(_ name: String, in range: ClosedRange<Int64>) throws(APIError) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let value = Int64(text), text.utf8.first != UInt8(ascii: "+") else {
            throw APIError(400, "expected a whole number", parameter: name)
        }
        guard range.contains(value) else {
            throw APIError(400, "expected a number from \(range.lowerBound) to \(range.upperBound)", parameter: name)
        }
        return value
    }

    /// A date, with its nanoseconds in a parameter of their own.
    ///
    /// - Throws: ``APIError`` 400 for a malformed date or number, and for years before 1678 or after 2261.
    func fileTime(_ name: String, nanoseconds: String) throws(APIError) -> FileTime? {
        let fraction = try integer(nanoseconds, in: 0...999_999_999)
        guard let date = try value(name, or: "not a date", { APIDate($0) }) else { return nil }
        guard let time = FileTime(seconds: date.seconds, nanoseconds: fraction ?? 0) else {
            throw APIError(400, "expected a date from 1678 to 2261", parameter: name)
        }
        return time
    }

    /// A rev.
    ///
    /// - Throws: ``APIError`` 400 for anything else.
    func revision(_ name: String) throws(APIError) -> JournalRevision? {
        try value(name, or: "not a rev") { JournalRevision($0) }
    }

    /// A path.
    ///
    /// - Throws: ``APIError`` 400 naming the rule that the path breaks.
    func path(_ name: String) throws(APIError) -> RemotePath? {
        guard let text = self[name] else { return nil }
        do {
            return try RemotePath(text)
        } catch {
            throw APIError(400, error.message, parameter: name)
        }
    }
}
