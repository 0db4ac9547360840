/// How much of a large file is sent at a time: about a second's worth, so that little is sent again after an error.
struct ChunkSize: Sendable, Equatable {
    /// A file up to this length is sent in one request.
    static let singleRequest: Int64 = 8 << 20
    static let smallest: Int64 = 4 << 20
    static let largest: Int64 = 64 << 20

    /// The length of the next chunk in bytes.
    private(set) var bytes: Int64 = 8 << 20

    /// Learns how long a whole chunk took.
    mutating func adapt(to duration: Duration) {
        if duration < .milliseconds(500) {
            bytes = min(bytes * 2, Self.largest)
        } else if duration > .seconds(2) {
            bytes = max(bytes / 2, Self.smallest)
        }
    }
}
