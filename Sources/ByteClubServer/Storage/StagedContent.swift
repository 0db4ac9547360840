import ByteClubCore
import NIOCore

/// Content whose bytes are safe on disk or in memory, and which becomes part of the folder with the write that stores
/// it.
///
/// Content that is never stored is removed with the last copy of this value.
struct StagedContent: Sendable {
    /// The place of the bytes.
    enum Place: Sendable {
        /// In memory; at most ``inlineLimit`` bytes.
        case inline([UInt8])
        /// In a blob store.
        case blob(any StagedBlob)
    }

    /// The most bytes that wait in memory: 64 KiB, which is no less than what travels inside a batch.
    static let inlineLimit = 64 << 10

    /// The content's length in bytes.
    let bytes: Int64
    /// The content's hash.
    let hash: ContentHash
    /// The place of the bytes.
    let place: Place
    /// The upload in pieces that the write completes; nil for other content.
    var upload: UploadIdentity?
}

extension StagedContent {
    /// Hashes a small body that is in memory already; nil when it is over ``inlineLimit``.
    init?(inline bytes: [UInt8]) {
        guard bytes.count <= Self.inlineLimit else { return nil }
        self.init(bytes: Int64(bytes.count), hash: ContentHasher.hash(bytes), place: .inline(bytes))
    }
}

/// A large content that a blob store has staged; it is removed with the last reference unless it was published.
///
/// A store accepts only content that it has staged itself.
protocol StagedBlob: AnyObject, Sendable {}

/// The upload in pieces that content came from, and its length when the hash was computed.
struct UploadIdentity: Hashable, Sendable {
    /// The upload's random name.
    let id: String
    /// The member who sends it.
    let member: Int64
    /// Its length in bytes.
    let offset: Int64
}

/// Content as a reader gets it.
enum StoredContent: Sendable {
    /// The bytes themselves, of a small content.
    case bytes([UInt8])
    /// A content that is read piece by piece.
    case blob(any Blob)

    /// The content for libraries that know bytes and files: where there is no file, at most its first `limit` bytes.
    func local(upTo limit: Int64) async throws -> LocalContent {
        switch self {
        case .bytes(let bytes): return .bytes(bytes)
        case .blob(let blob):
            if let path = blob.localPath { return .file(path) }
            return .bytes(
                Array(try await blob.open().read(at: 0, count: Int(min(limit, blob.length))).readableBytesView))
        }
    }
}

/// Content that is on this machine.
enum LocalContent: Sendable {
    /// The bytes.
    case bytes([UInt8])
    /// The path of a file that holds them.
    case file(String)
}
