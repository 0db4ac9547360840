import ByteClubCore
import Glibc

extension APIDate {
    /// What a clock in the server's time zone shows at this moment, as the date on which a clock in UTC shows the same.
    ///
    /// The gallery has notes, and photos that do not say when they were taken, by this clock, beside the clocks of the
    /// places where photos were taken (``TakenTime/clock``).
    var onServerClock: APIDate {
        var time = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&time, &parts) != nil else { return self }
        return unsafe APIDate(seconds: seconds + Int64(parts.tm_gmtoff))
    }
}
