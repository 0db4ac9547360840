import NIOCore

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
