/// The value of a `Retry-After` field (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// How long to wait.
    ///
    /// - Parameters:
    ///   - value: Seconds, or a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///   - now: The present in seconds since 1970.
    /// - Returns: Nil if the value is neither.
    static func delay(_ value: String, now: Int64) -> Duration? {
        let text = value.utf8.drop { $0 == 0x20 }
        if let seconds = Int64(String(decoding: text, as: UTF8.self)) {
            return seconds >= 0 ? .seconds(min(seconds, 1 << 32)) : nil
        }
        guard let date = HTTPDate.seconds(value, now: now) else { return nil }
        return .seconds(min(max(date - now, 0), 1 << 32))
    }
}
