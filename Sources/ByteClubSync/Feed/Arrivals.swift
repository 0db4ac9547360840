import ByteClubCore

/// Contents that came with the feed, kept until they are on the disk, as far as there is room.
struct Arrivals: Sendable {
    /// The most bytes that are kept.
    static let limit = 24 << 20

    private var contents: [ContentHash: [UInt8]] = [:]
    private var size = 0

    /// Keeps a content if there is room.
    mutating func add(_ bytes: [UInt8], _ hash: ContentHash) {
        guard contents[hash] == nil, size + bytes.count <= Self.limit else { return }
        contents[hash] = bytes
        size += bytes.count
    }

    /// A content that is still kept.
    func content(_ hash: ContentHash) -> [UInt8]? { contents[hash] }

    /// Forgets all.
    mutating func clear() {
        contents.removeAll(keepingCapacity: true)
        size = 0
    }
}
