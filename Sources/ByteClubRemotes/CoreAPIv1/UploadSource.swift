import ByteClubCore
import ByteClubHTTP

/// The content of an upload with its hash, which is computed during the upload unless it is known.
///
/// A file that is sent in one request is visible with the answer, so it is read as a whole before.
struct UploadSource: Sendable {
    private enum Kind {
        case bytes([UInt8], Task<ContentHash, Never>)
        case file(OpenFile, FileHash?)
    }

    private let kind: Kind
    private let resumption: UploadResumption?

    /// Whether it is sent in pieces: such a file is sent while it is read.
    let isInPieces: Bool

    /// Opens the content and, unless its hash is known, starts to hash it.
    ///
    /// A content of at most `piece` bytes is sent in one request, unless an earlier upload of it in pieces can be
    /// resumed.
    init(_ content: Content, isHashed: Bool = true, piece: Int64) throws(RemoteError) {
        switch content {
        case .bytes(let bytes):
            kind = Self.bytes(bytes)
            resumption = nil
            isInPieces = Int64(bytes.count) > piece
        case .file(let path, let resumption):
            self.resumption = resumption
            let file = try OpenFile(reading: path)
            isInPieces = file.size > piece || Self.position(resumption, file) != nil
            kind =
                isInPieces ? .file(file, isHashed ? FileHash.start(file) : nil) : Self.bytes(try file.readAll())
        }
    }

    private static func bytes(_ bytes: [UInt8]) -> Kind { .bytes(bytes, Task { ContentHasher.hash(bytes) }) }

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

    /// Fails when the file is not as it was.
    func verify() throws(RemoteError) {
        if case .file(let file, _) = kind { try file.verify() }
    }

    /// Fails when the file is not as it was, and waits for its hash.
    func verifiedHash() async throws(RemoteError) -> ContentHash {
        switch kind {
        case .bytes(_, let hash): return await hash.value
        case .file(let file, let hash):
            try file.verify()
            let value = try await (hash ?? FileHash.start(file)).value
            try file.verify()
            return value
        }
    }

    /// The position of an earlier upload of the same file in its present state; nil when there was none.
    var position: UploadPosition? {
        guard case .file(let file, _) = kind else { return nil }
        return Self.position(resumption, file)
    }

    private static func position(_ resumption: UploadResumption?, _ file: OpenFile) -> UploadPosition? {
        guard let position = resumption?.position, position.file == file.state, position.offset <= file.size else {
            return nil
        }
        return position
    }

    /// Stores the position of the upload for a later one; without an offset, that there is nothing to resume.
    func keepPosition(of id: String, offset: Int64?) {
        guard let resumption, case .file(let file, _) = kind else { return }
        resumption.keep(offset.map { UploadPosition(id: id, offset: $0, file: file.state) })
    }

    /// Ends the hashing, when its result is not wanted any more.
    func stop() {
        if case .file(_, let hash?) = kind { hash.stop() }
    }
}
