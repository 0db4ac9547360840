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

    /// Counts the bytes that have been sent.
    private func take(sent: Int64) { take(acknowledged: 0, sent: sent) }

    /// Counts the bytes that the server acknowledges.
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

/// How much of a file is sent at a time: 1 MiB, so that little is sent again after an error, a pause or Ctrl-C, and more
/// on a fast line.
struct ChunkSize: Sendable, Equatable {
    static let first: Int64 = 1 << 20
    static let largest: Int64 = 64 << 20
    /// The longest file that is sent in one request.
    static let singleRequest: Int64 = 8 << 20
    /// What a low rate limit makes of it at least.
    private static let smallestLimited: Int64 = 16 << 10

    /// The length of the next chunk in bytes without a rate limit; a file of at most this and ``singleRequest`` bytes
    /// is sent in one request.
    private(set) var bytes = first

    /// The length of the next chunk in bytes: where a rate, in bytes a second, is to be kept, a second's worth or 1 MiB.
    func bytes(at rate: Int?) -> Int64 {
        guard let rate else { return bytes }
        return min(bytes, Self.first, max(Int64(rate), Self.smallestLimited))
    }

    /// Learns how long so many bytes took.
    mutating func adapt(to duration: Duration, of count: Int64) {
        // A request may wait long for its answer on any line, so only less than half a second proves a fast line.
        if duration < .milliseconds(500), count >= bytes / 2 {
            bytes = min(bytes * 2, Self.largest)
        } else if duration > .seconds(1), count >= bytes / 2 {
            bytes = max(bytes / 2, Self.first)
        }
    }
}

/// How large the pieces are in which files are sent, which all uploads of the remotes that share it teach.
public final class UploadPieces: Sendable {
    private let size = Mutex(ChunkSize())

    /// Begins with pieces of 1 MiB, which grow to 64 MiB on a fast line.
    public init() {}

    /// The length of the next piece in bytes, where such a rate is to be kept.
    func bytes(at rate: Int?) -> Int64 { size.withLock { $0.bytes(at: rate) } }

    /// Learns how long a request with so many bytes took.
    func learn(_ duration: Duration, of count: Int64) { size.withLock { $0.adapt(to: duration, of: count) } }
}
