import Glibc

/// The machine's clock.
enum SystemTime {
    /// Seconds since 1970.
    @Sendable static func seconds() -> Int64 { Int64(time(nil)) }
}
