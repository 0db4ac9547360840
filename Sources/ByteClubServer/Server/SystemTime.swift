import Glibc

/// The machine's clock.
enum SystemTime {
    /// Seconds since 1970.
    @Sendable static func seconds() -> Int64 { Int64(time(nil)) }

    /// A moment in seconds since 1970 as clocks here show it, as in `2026-11-21 02:08`.
    static func local(_ seconds: Int64) -> String {
        var seconds = time_t(seconds)
        var parts = unsafe tm()
        _ = unsafe localtime_r(&seconds, &parts)
        return unsafe text(of: &parts, "%Y-%m-%d %H:%M")
    }

    /// A moment in UTC as a pattern of strftime(3) writes it, in less than 32 bytes.
    static func text(of seconds: Int64, _ pattern: String) -> String {
        var seconds = time_t(seconds)
        var parts = unsafe tm()
        _ = unsafe gmtime_r(&seconds, &parts)
        return unsafe text(of: &parts, pattern)
    }

    private static func text(of parts: inout tm, _ pattern: String) -> String {
        var buffer = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(&buffer, buffer.count, pattern, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
