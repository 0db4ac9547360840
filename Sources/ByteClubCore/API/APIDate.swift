/// A moment in whole seconds, as Core API v1 writes it: `Sat, 21 Aug 2010 22:31:20 +0000`.
public struct APIDate: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Seconds since 1970-01-01 00:00:00 UTC.
    public let seconds: Int64

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let zones = ["+0000", "GMT", "UTC"]

    /// Creates a date from seconds since 1970.
    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// Reads the wire's form, also with a one-digit day or `GMT`; nil when the text is anything else.
    public init?(_ text: String) {
        var fields = Fields(text)
        guard fields.word(endingWith: ",").count == 3, fields.word().isEmpty,
            let day = fields.number(digits: 1...2, in: 1...31),
            let month = Self.months.firstIndex(where: { [word = fields.word()] in $0.utf8.elementsEqual(word) }),
            let year = fields.number(digits: 4...4, in: 1...9999),
            let hour = fields.number(digits: 2...2, in: 0...23, before: ":"),
            let minute = fields.number(digits: 2...2, in: 0...59, before: ":"),
            let second = fields.number(digits: 2...2, in: 0...60),
            Self.zones.contains(where: { [zone = fields.word()] in $0.utf8.elementsEqual(zone) }), fields.areAllTaken,
            day <= Self.length(year: year, month: month + 1)
        else { return nil }
        let date = Self.dayNumber(year: year, month: month + 1, day: day)
        seconds = date * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// Reads RFC 3339 in UTC as ``rfc3339`` writes it; nil when the text is anything else.
    public init?(rfc3339 text: String) {
        let marks = text.utf8.filter { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let numbers = text.split { !("0"..."9").contains($0) }.compactMap { Int($0) }
        guard marks.elementsEqual("--T::Z".utf8), numbers.count == 6, text.utf8.count == 20,
            (1...12).contains(numbers[1]), numbers[2] >= 1,
            numbers[2] <= Self.length(year: numbers[0], month: numbers[1]), numbers[3] < 24, numbers[4] < 60,
            numbers[5] <= 60
        else { return nil }
        let date = Self.dayNumber(year: numbers[0], month: numbers[1], day: numbers[2])
        seconds = date * 86_400 + Int64(numbers[3] * 3600 + numbers[4] * 60 + numbers[5])
    }

    /// Reads the parts of a date's text from left to right.
    private struct Fields {
        private var rest: ArraySlice<UInt8>

        init(_ text: String) { rest = Array(text.utf8)[...] }

        var areAllTaken: Bool { rest.isEmpty }

        /// Reads up to the next blank and skips all blanks there, or up to and with `mark`.
        mutating func word(endingWith mark: Unicode.Scalar? = nil) -> ArraySlice<UInt8> {
            let end = mark.map { UInt8(ascii: $0) } ?? UInt8(ascii: " ")
            let word = rest.prefix { $0 != end }
            rest = rest.dropFirst(word.count + 1)
            if mark == nil { rest = rest.drop { $0 == UInt8(ascii: " ") } }
            return word
        }

        mutating func number(
            digits: ClosedRange<Int>, in range: ClosedRange<Int>, before mark: Unicode.Scalar? = nil
        ) -> Int? {
            let word = word(endingWith: mark)
            guard digits.contains(word.count) else { return nil }
            var value = 0
            for byte in word {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return range.contains(value) ? value : nil
        }
    }

    private static func length(year: Int, month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01 of a date in the proleptic Gregorian calendar.
    private static func dayNumber(year: Int, month: Int, day: Int) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era * 146_097 + dayOfEra - 719_468)
    }

    /// The wire's form.
    public var description: String {
        let (year, month, day, weekday, _) = calendar
        return "\(Self.days[weekday]), \(Self.two(day)) \(Self.months[month - 1]) \(String(year).padded(to: 4)) "
            + "\(clock) +0000"
    }

    /// RFC 3339, as in `2010-08-21T22:31:20Z`: what commands write as JSON.
    public var rfc3339: String {
        let (year, month, day, _, _) = calendar
        return "\(String(year).padded(to: 4))-\(Self.two(month))-\(Self.two(day))T\(clock)Z"
    }

    /// The time of the day as `22:31:20`.
    private var clock: String {
        let time = calendar.second
        return "\(Self.two(time / 3600)):\(Self.two(time / 60 % 60)):\(Self.two(time % 60))"
    }

    /// The parts of the moment in Greenwich: the month is 1 to 12, the day of the week 0 for Sunday, the second the day's.
    var calendar: (year: Int, month: Int, day: Int, weekday: Int, second: Int) {
        let dayNumber = Int((seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400)
        let time = Int(seconds - Int64(dayNumber) * 86_400)
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, day, ((dayNumber + 4) % 7 + 7) % 7, time)
    }

    /// A number below 100 as two digits.
    static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

    /// Orders by time.
    public static func < (left: APIDate, right: APIDate) -> Bool { left.seconds < right.seconds }
}

extension String {
    /// Digits with zeros before them where there are fewer than so many.
    func padded(to count: Int) -> String { String(repeating: "0", count: max(0, count - utf8.count)) + self }
}

extension APIDate: JSONTextReadable {
    static var jsonForm: String { "a date" }
}

/// When a file was last changed where it came from, in nanoseconds since 1970: years 1678 to 2261.
///
/// Core API v1 has whole seconds, `client_mtime`; `client_mtime_nanos`, an extension, has what these leave out.
public struct FileTime: Hashable, Sendable, Comparable {
    private static let second: Int64 = 1_000_000_000

    /// Nanoseconds since 1970-01-01 00:00:00 UTC.
    public let nanoseconds: Int64

    /// Creates a time from nanoseconds since 1970.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Joins whole seconds since 1970 and the nanoseconds that they leave out, 0 to 999,999,999; nil outside the years.
    public init?(seconds: Int64, nanoseconds: Int64 = 0) {
        // The first moments of all are in a second that begins before them.
        let (near, rest) = seconds < 0 ? (seconds + 1, nanoseconds - Self.second) : (seconds, nanoseconds)
        let (whole, isOver) = near.multipliedReportingOverflow(by: Self.second)
        let (sum, isPast) = whole.addingReportingOverflow(rest)
        guard (0..<Self.second).contains(nanoseconds), !isOver, !isPast else { return nil }
        self.init(nanoseconds: sum)
    }

    /// The whole seconds, rounded down.
    public var date: APIDate {
        APIDate(seconds: nanoseconds / Self.second - (nanoseconds % Self.second < 0 ? 1 : 0))
    }

    /// What ``date`` leaves out, 0 to 999,999,999 nanoseconds.
    public var fraction: Int64 { (nanoseconds % Self.second + Self.second) % Self.second }

    /// Orders by time.
    public static func < (left: FileTime, right: FileTime) -> Bool { left.nanoseconds < right.nanoseconds }
}

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
