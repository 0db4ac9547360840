import ByteClubCore
import ByteClubHTTP
import Synchronization

/// Adds up the bytes sent over all requests of one upload; never counts down, also when a request is repeated.
final class UploadProgress: Sendable {
    private let total: Int64
    private let report: @Sendable (TransferProgress) -> Void
    private let furthest = Mutex<Int64>(-1)

    init?(total: Int64, _ report: (@Sendable (TransferProgress) -> Void)?) {
        guard let report else { return nil }
        self.total = total
        self.report = report
    }

    /// What follows one request, whose body starts at an offset.
    static func counting(_ progress: UploadProgress?, from offset: Int64) -> (@Sendable (TaskProgress) -> Void)? {
        guard let progress else { return nil }
        return { progress.update(to: offset + $0.bytesSent) }
    }

    /// Takes the number of bytes that have been sent.
    func update(to completed: Int64) {
        // Reported under the lock, so that no two calls come out of order.
        furthest.withLock { furthest in
            guard completed > furthest else { return }
            furthest = min(completed, total)
            report(TransferProgress(completed: furthest, total: total))
        }
    }
}
