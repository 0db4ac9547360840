import ByteClubCore
import Crypto

/// The shared folder's rows, small contents, members, tokens and uploads: one consistent, durable whole.
///
/// All calls may run at once. They throw ``StorageError`` for what the disk or the database does, besides what each names.
protocol MetadataStore: Sendable {
    /// The random name of this data directory's journal, made once; 32 hexadecimal digits.
    var epoch: String { get }

    /// The secret that signs cursors of this data directory, made once.
    var signingKey: SymmetricKey { get }

    /// Where large contents are staged.
    var blobs: any BlobStore { get }

    /// Runs a closure on a snapshot of the folder; never waits for a writer. Rethrows what the closure throws.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (SharedFolder<AnyFolderState>) throws -> T
    ) async throws -> T

    /// Runs a closure that changes the folder, and stores content with it; returns when both are durable.
    ///
    /// Writes that are waiting at the same time share one transaction and one sync. A closure that throws undoes its own
    /// changes only, and the error is rethrown. The content is kept when the closure recorded a version with its hash.
    /// Cancelling does not stop a write that waits.
    ///
    /// - Throws: Besides the closure's errors, ``UploadError`` when the content is an upload that was completed or went
    ///   on meanwhile.
    func write<T: Sendable>(
        by author: Int64, storing content: StagedContent?,
        _ body: @escaping @Sendable (inout SharedFolder<AnyFolderState>) throws -> T
    ) async throws -> T

    /// Waits until there is a change after a revision at or below `prefix`: true, or false after the timeout.
    ///
    /// Answers at once when there is one already, also when the revision is higher than any this store gave.
    ///
    /// - Throws: `CancellationError` when the surrounding task is cancelled.
    func waitForChange(after revision: Int64, prefix: PathKey, timeout: Duration) async throws -> Bool

    /// The bytes of a file's version.
    func content(of entry: FolderEntry) async throws -> StoredContent

    /// How much is stored.
    func usage() async throws -> StorageUsage

    /// Adds a member with a new token, and with OAuth 1 credentials when asked.
    ///
    /// Without a role the first member becomes the owner, and every other an editor.
    ///
    /// - Throws: ``StorageError`` `badMember` for a name that is taken (whatever its case), empty, over 255 bytes or
    ///   with control characters.
    func addMember(name: String, role: Role?, oauth1: Bool) async throws -> NewMember

    /// All members ever, removed ones included, by number.
    func members() async throws -> [Member]

    /// Kills a member's tokens and frees the name; running servers notice within a second.
    ///
    /// - Throws: ``StorageError`` `badMember` when there is no such member.
    func removeMember(name: String) async throws

    /// Whose bearer token this is; nil when unknown or dead. Answers from memory when it was asked lately.
    func member(forToken token: String) async throws -> Member?

    /// What a request with this app key and token must be signed with; nil when either is unknown or dead.
    func oauth1Credentials(consumerKey: String, token: String) async throws -> OAuth1Credentials?

    /// Starts an upload in pieces: 0 bytes long, known for 48 hours.
    func beginUpload(member: Int64) async throws -> ChunkedUpload

    /// How far an upload has come.
    ///
    /// - Throws: ``UploadError`` `unknown`, or `alreadyCompleted`.
    func upload(_ id: String, member: Int64) async throws -> ChunkedUpload

    /// Starts a chunk; a chunk of the same upload that is still arriving is cut off and gets `wrongOffset`.
    ///
    /// - Throws: ``UploadError`` `unknown`, `wrongOffset`, or `alreadyCompleted`.
    func appendToUpload(_ id: String, member: Int64, at offset: Int64) async throws -> any UploadWriter

    /// The whole of an upload as content for ``write(by:storing:_:)``, which completes it; takes no second pass.
    ///
    /// - Throws: ``UploadError`` `unknown`, or `alreadyCompleted`.
    func finishedUpload(_ id: String, member: Int64) async throws -> StagedContent
}
