import ByteClubCore
import ByteClubHTTP
import Synchronization

/// Adds up the bytes of one upload over all its requests: those that were sent, and those that the server acknowledged.
///
/// Neither counts down, also when a request is repeated.
final class UploadProgress: Sendable {
    private let total: Int64
    private let report: @Sendable (TransferProgress) -> Void
    private let furthest: Mutex<(acknowledged: Int64, sent: Int64)>

    /// Counts an upload of which the server is known to have so many bytes already.
    init?(total: Int64, from offset: Int64, _ report: (@Sendable (TransferProgress) -> Void)?) {
        guard let report else { return nil }
        // The first count is reported, also when it is this one.
        furthest = Mutex((offset, offset - 1))
        self.total = total
        self.report = report
    }

    /// What follows one request, whose body starts at an offset.
    static func counting(_ progress: UploadProgress?, from offset: Int64) -> (@Sendable (TaskProgress) -> Void)? {
        guard let progress else { return nil }
        return { progress.take(sent: offset + $0.bytesSent) }
    }

    /// Takes the number of bytes that have been sent.
    private func take(sent: Int64) { take(acknowledged: 0, sent: sent) }

    /// Takes the number of bytes that the server says it has.
    func acknowledge(_ count: Int64) { take(acknowledged: count, sent: count) }

    private func take(acknowledged: Int64, sent: Int64) {
        // Reported under the lock, so that no two calls come out of order.
        furthest.withLock { furthest in
            let before = furthest
            furthest = (
                max(before.acknowledged, min(acknowledged, total)), max(before.sent, min(sent, total))
            )
            guard furthest != before else { return }
            report(
                TransferProgress(
                    completed: furthest.acknowledged, inFlight: furthest.sent - furthest.acknowledged, total: total))
        }
    }
}
