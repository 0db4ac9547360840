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
