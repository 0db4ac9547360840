import ByteClubCore

/// Contents on their way to the write that names them: whole ones, chunks, and uploads in pieces.
protocol UploadStore: Sendable {
    /// Where large contents are staged.
    var blobs: any BlobStore { get }

    /// Where parts of large contents wait.
    var chunks: any ChunkStore { get }

    /// Starts an upload in pieces: 0 bytes long, known for 48 hours, or until the member has begun too many others
    /// since.
    ///
    /// - Throws: ``UploadError`` `tooMany`.
    func beginUpload(member: Int64) async throws -> ChunkedUpload

    /// How far an upload has come.
    ///
    /// - Throws: ``UploadError`` `unknown`, or `alreadyCompleted`.
    func upload(_ id: String, member: Int64) async throws -> ChunkedUpload

    /// Starts a chunk; a chunk of the same upload that is still arriving is cut off and gets `wrongOffset`.
    ///
    /// - Throws: ``UploadError`` `unknown`, `wrongOffset`, or `alreadyCompleted`.
    func appendToUpload(_ id: String, member: Int64, at offset: Int64) async throws -> any UploadWriter

    /// The whole of an upload as content for ``FolderStore/write(by:storing:_:)``, which completes it; takes no second
    /// pass.
    ///
    /// - Throws: ``UploadError`` `unknown`, or `alreadyCompleted`.
    func finishedUpload(_ id: String, member: Int64) async throws -> StagedContent
}
