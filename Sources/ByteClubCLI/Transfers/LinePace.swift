/// How fast transfers of a batch are over, one after another; what is older weighs less.
///
/// It reads no clock: each call is told the time.
struct LinePace: Sendable {
    /// Below so many bytes a second a line is slow.
    private static let slow = Double(1 << 20)
    private static let usual: Int64 = 12 << 20

    private var bytes = 0.0
    private var seconds = 0.0

    /// Takes that so many bytes took so many seconds.
    mutating func take(_ count: Int64, in time: Double) {
        bytes = bytes * 0.8 + Double(count)
        seconds = seconds * 0.8 + max(0, time)
    }

    /// How many bytes may be under way at once: 12 MiB, on a slow line a second's worth.
    var mostBytes: Int64 {
        guard seconds > 0, bytes / seconds < Self.slow else { return Self.usual }
        return Int64(bytes / seconds)
    }
}
