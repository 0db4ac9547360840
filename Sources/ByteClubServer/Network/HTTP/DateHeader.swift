import ByteClubCore
import Synchronization

/// The value of the `Date` header, made once a second.
final class DateHeader: Sendable {
    private let cached = Mutex((seconds: Int64(-1), text: ""))

    /// The text for a moment, as in `Sun, 06 Nov 1994 08:49:37 GMT`.
    func text(at seconds: Int64) -> String {
        cached.withLock { cached in
            if cached.seconds != seconds {
                cached = (seconds, APIDate(seconds: seconds).description.dropLast(5) + "GMT")
            }
            return cached.text
        }
    }
}
