import ByteClubCore

/// A day in people's words, as in `2 days ago`; pages show its date when it is pointed at.
struct Ago: Sendable {
    let words: String
    let day: String
    let rfc3339: String

    /// Creates the words for a date, seen from a moment.
    init(_ date: APIDate, now: Int64) {
        (day, rfc3339) = (WebSite.day(date), date.rfc3339)
        words = Self.words(days: (Self.day(now) - Self.day(date.seconds)))
    }

    /// The number of a day.
    private static func day(_ seconds: Int64) -> Int64 { Int64((Double(seconds) / 86_400).rounded(.down)) }

    /// The words for so many days before today.
    static func words(days: Int64) -> String {
        switch days {
        case ...0: "today"
        case 1: "yesterday"
        case 2..<14: "\(days) days ago"
        case 14..<70: "\(days / 7) weeks ago"
        case 70..<730: "\(days * 12 / 365) months ago"
        default: "\(days / 365) years ago"
        }
    }
}
