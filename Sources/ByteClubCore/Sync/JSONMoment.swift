/// Seconds since 1970, which JSON has as RFC 3339.
@propertyWrapper public struct JSONMoment: Hashable, Sendable, Codable {
    /// The seconds.
    public var wrappedValue: Int64

    /// Wraps seconds.
    public init(wrappedValue: Int64) { self.wrappedValue = wrappedValue }

    /// Reads RFC 3339 in UTC.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let date = APIDate(rfc3339: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is not a date")
        }
        wrappedValue = date.seconds
    }

    /// Writes RFC 3339 in UTC, of the years that it has.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let seconds = min(max(wrappedValue, Self.years.lowerBound), Self.years.upperBound)
        try container.encode(APIDate(seconds: seconds).rfc3339)
    }

    /// From 1970 to the end of 9999.
    private static let years: ClosedRange<Int64> = 0...253_402_300_799
}

/// The same of what may be nil, which JSON leaves out.
@propertyWrapper public struct OptionalJSONMoment: Hashable, Sendable, Codable {
    /// The seconds.
    public var wrappedValue: Int64?

    /// Wraps seconds.
    public init(wrappedValue: Int64?) { self.wrappedValue = wrappedValue }
}

extension KeyedEncodingContainer {
    /// Writes a date, unless it is nil.
    public mutating func encode(_ value: OptionalJSONMoment, forKey key: Key) throws {
        try encodeIfPresent(value.wrappedValue.map(JSONMoment.init(wrappedValue:)), forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Reads a date; nil when there is none.
    public func decode(_: OptionalJSONMoment.Type, forKey key: Key) throws -> OptionalJSONMoment {
        OptionalJSONMoment(wrappedValue: try decodeIfPresent(JSONMoment.self, forKey: key)?.wrappedValue)
    }
}
