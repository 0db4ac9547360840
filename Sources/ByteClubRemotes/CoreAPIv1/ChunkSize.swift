/// How much of a file is sent at a time: 1 MiB, so that little is sent again after an error, a pause or Ctrl-C, and more
/// on a fast line.
struct ChunkSize: Sendable, Equatable {
    static let first: Int64 = 1 << 20
    static let largest: Int64 = 64 << 20
    /// The longest file that goes in one request.
    static let singleRequest: Int64 = 8 << 20
    /// What a low rate limit makes of it at least.
    private static let smallestLimited: Int64 = 16 << 10

    /// The length of the next chunk in bytes where no rate is to be kept; what is not longer, and no longer than
    /// ``singleRequest``, goes in one request.
    private(set) var bytes = first

    /// The length of the next chunk in bytes: where a rate, in bytes a second, is to be kept, a second's worth or 1 MiB.
    func bytes(at rate: Int?) -> Int64 {
        guard let rate else { return bytes }
        return min(bytes, Self.first, max(Int64(rate), Self.smallestLimited))
    }

    /// Learns how long so many bytes took.
    mutating func adapt(to duration: Duration, of count: Int64) {
        // A request may wait long for its answer on any line, so that it takes less than half a second says enough.
        if duration < .milliseconds(500), count >= bytes / 2 {
            bytes = min(bytes * 2, Self.largest)
        } else if duration > .seconds(1), count >= bytes / 2 {
            bytes = max(bytes / 2, Self.first)
        }
    }
}
