import ByteClubCore

/// Contents on their way to the write that names them: whole ones, chunks, and uploads in pieces; and the room for them.
protocol UploadStore: MaintenanceStore {
    /// The store that stages large contents.
    var blobs: any BlobStore { get }

    /// The store of chunks.
    var chunks: any ChunkStore { get }

    /// Starts an upload in pieces: 0 bytes long, known for 48 hours, or until the member has begun too many others
    /// since.
    ///
    /// - Throws: ``UploadError`` `tooMany`.
    func beginUpload(member: Int64) async throws -> ChunkedUpload

    /// The progress of an upload.
    ///
    /// - Throws: ``UploadError`` `unknown`, or `alreadyCompleted`.
    func upload(_ id: String, member: Int64) async throws -> ChunkedUpload

    /// Starts a chunk; a chunk of the same upload that is still arriving is cut off and gets `wrongOffset`.
    ///
    /// - Throws: ``UploadError`` `unknown`, `wrongOffset`, or `alreadyCompleted`.
    func appendToUpload(_ id: String, member: Int64, at offset: Int64) async throws -> any UploadWriter

    /// The whole of an upload as content for ``FolderStore/write(by:storing:_:)``, which completes it; does not read it
    /// again.
    ///
    /// - Throws: ``UploadError`` `unknown`, or `alreadyCompleted`.
    func finishedUpload(_ id: String, member: Int64) async throws -> StagedContent

    /// The bytes on their way to this store.
    var underWay: BytesUnderWay { get }

    /// The usage, and how much can be stored if only this member goes on writing.
    func usage(of member: Int64) async throws -> StorageUsage

    /// Refuses bytes for which the disk has no room.
    ///
    /// - Throws: ``StorageError`` `full`.
    func checkDisk(for bytes: Int64) throws

    /// The usage that counts against the quotas of a member and of the club, and the entry at a path.
    func takenRoom(by member: Int64, at path: RemotePath?) async throws -> TakenRoom

    /// Removes uploads and chunks that a member has not touched for an hour, the oldest first, until so many bytes are
    /// free; returns whether anything was removed.
    func giveUpIdle(_ bytes: Int64, of member: Int64) async throws -> Bool
}

/// Why a chunk or the commit of an upload in pieces was refused; nothing was stored.
enum UploadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No such upload of this member, or it has expired.
    case unknown
    /// The chunk starts elsewhere than the upload ends.
    case wrongOffset(got: Int64, upload: ChunkedUpload)
    /// A write has stored this upload already.
    case alreadyCompleted
    /// Bytes of as many uploads as a member may have unfinished are arriving at once.
    case tooMany

    /// One line for people, in the words that clients search for.
    var description: String {
        switch self {
        case .unknown: "Upload id not found"
        case .wrongOffset(let got, let upload):
            "the chunk starts at the wrong place: got [\(got)] expected [\(upload.offset)]"
        case .alreadyCompleted: "the upload is already completed"
        case .tooMany: "you have too many unfinished uploads; finish some of them first"
        }
    }
}
