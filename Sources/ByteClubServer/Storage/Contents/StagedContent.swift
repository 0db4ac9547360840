import ByteClubCore

/// Content whose bytes are safe on disk or in memory, and which becomes part of the folder with the write that stores
/// it.
///
/// Content that no write stores goes away with the last copy of this value.
struct StagedContent: Sendable {
    /// Where the bytes wait.
    enum Place: Sendable {
        /// In memory; at most ``inlineLimit`` bytes.
        case inline([UInt8])
        /// Where a blob store has staged them.
        case blob(any StagedBlob)
    }

    /// The most bytes that wait in memory: 64 KiB, which is no less than what travels inside a batch.
    static let inlineLimit = 64 << 10

    /// The content's length in bytes.
    let bytes: Int64
    /// The content's hash.
    let hash: ContentHash
    /// Where the bytes wait.
    let place: Place
    /// The upload in pieces that the write completes; nil for other content.
    let upload: UploadIdentity?

    /// Describes content that waits somewhere.
    init(bytes: Int64, hash: ContentHash, place: Place, upload: UploadIdentity? = nil) {
        self.bytes = bytes
        self.hash = hash
        self.place = place
        self.upload = upload
    }

    /// Hashes a small body that is in memory already; nil when it is over ``inlineLimit``.
    init?(inline bytes: [UInt8]) {
        guard bytes.count <= Self.inlineLimit else { return nil }
        self.init(bytes: Int64(bytes.count), hash: ContentHasher.hash(bytes), place: .inline(bytes))
    }
}

/// A large content that a blob store has staged, and which goes with the last reference unless it was published.
///
/// A store takes back what it has staged itself, and nothing of another store.
protocol StagedBlob: AnyObject, Sendable {}

/// Which upload in pieces content came from, and how long it was when its hash was taken.
struct UploadIdentity: Hashable, Sendable {
    /// The upload's random name.
    let id: String
    /// The member who sends it.
    let member: Int64
    /// Its length in bytes.
    let offset: Int64
}
