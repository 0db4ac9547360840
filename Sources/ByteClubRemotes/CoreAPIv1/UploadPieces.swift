import Synchronization

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
