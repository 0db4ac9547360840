import ByteClubCore
import ByteClubHTTP

/// What is uploaded, with its hash: known at once for bytes in memory, computed while it is sent for a file.
struct UploadSource: Sendable {
    private enum Kind {
        case bytes([UInt8], ContentHash)
        case file(OpenFile, FileHash)
    }

    /// Files up to this length are read at once and hashed where they are.
    private static let smallFile: Int64 = 256 << 10
    private let kind: Kind

    /// Opens what is to be uploaded and starts to hash it.
    init(_ content: Content) throws(RemoteError) {
        switch content {
        case .bytes(let bytes): kind = .bytes(bytes, ContentHasher.hash(bytes))
        case .file(let path):
            let file = try OpenFile(reading: path)
            if file.size <= Self.smallFile {
                let bytes = try file.readAll()
                kind = .bytes(bytes, ContentHasher.hash(bytes))
            } else {
                kind = .file(file, FileHash.start(file))
            }
        }
    }

    /// The length in bytes.
    var size: Int64 {
        switch kind {
        case .bytes(let bytes, _): Int64(bytes.count)
        case .file(let file, _): file.size
        }
    }

    /// A part, to be sent.
    func body(_ range: Range<Int64>) -> Body {
        switch kind {
        case .bytes(let bytes, _):
            range.count == bytes.count
                ? .bytes(bytes) : .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        case .file(let file, _):
            .file(path: file.path, offset: range.lowerBound, length: range.upperBound - range.lowerBound)
        }
    }

    /// Fails when the file is not as it was, and waits for its hash.
    func verifiedHash() async throws(RemoteError) -> ContentHash {
        switch kind {
        case .bytes(_, let hash): return hash
        case .file(let file, let hash):
            try file.verify()
            let value = try await hash.value
            try file.verify()
            return value
        }
    }

    /// Ends the hashing, when its result is not wanted any more.
    func stop() {
        if case .file(_, let hash) = kind { hash.stop() }
    }
}
