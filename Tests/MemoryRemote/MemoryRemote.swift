public import ByteClubCore
import Synchronization

/// A remote in this process's memory that keeps to the very rules of a server, for tests and simulations.
///
/// It keeps every version and every content for as long as it lives. Several members share one tree with
/// ``init(sharing:author:)``. Safe from any thread; ``waitForChanges(after:timeout:)`` really waits and wakes at once.
public final class MemoryRemote: Remote {
    /// Called before and after each call; an error that it throws becomes the call's.
    public typealias Fault = @Sendable (MemoryOperation) async throws(RemoteError) -> Void
    /// Makes a smaller picture, or nil when the bytes are no picture.
    public typealias Thumbnailer = @Sendable ([UInt8], ThumbnailSize, ThumbnailImageFormat) -> [UInt8]?

    /// The number of the member whose calls these are.
    public let author: Int64
    let tree: MemoryTree
    let pageSize: Int
    let bulkChunks: Bool
    let now: @Sendable () -> APIDate
    let thumbnailer: Thumbnailer?
    private let faultSlot = Mutex<Fault?>(nil)

    /// Creates an empty tree with its first member.
    ///
    /// - Parameters:
    ///   - author: The member's number.
    ///   - pageSize: How many changes one page of ``delta(after:prefix:)`` holds, from 1.
    ///   - bulkChunks: Whether it accepts many chunks at once.
    ///   - thumbnailer: Makes thumbnails; without one every photo is `undecodable`.
    ///   - now: The server's clock.
    public init(
        author: Int64 = 1, pageSize: Int = 2_000, bulkChunks: Bool = true, thumbnailer: Thumbnailer? = nil,
        now: @escaping @Sendable () -> APIDate = { APIDate(seconds: 1_375_780_500) }
    ) {
        self.author = author
        self.pageSize = max(1, pageSize)
        self.bulkChunks = bulkChunks
        self.thumbnailer = thumbnailer
        self.now = now
        tree = MemoryTree()
    }

    /// Lets another member use the same tree.
    public init(sharing other: MemoryRemote, author: Int64) {
        self.author = author
        tree = other.tree
        pageSize = other.pageSize
        bulkChunks = other.bulkChunks
        thumbnailer = other.thumbnailer
        now = other.now
    }

    /// The faults of this member's calls; nil for none.
    public var fault: Fault? {
        get { faultSlot.withLock { $0 } }
        set { faultSlot.withLock { $0 = newValue } }
    }

    /// Does a call's work between the two moments at which a fault may strike.
    func perform<Value: Sendable>(
        _ kind: MemoryOperation.Kind, _ path: RemotePath? = nil,
        _ work: () async throws(RemoteError) -> Value
    ) async throws(RemoteError) -> Value {
        let fault = fault
        try RemoteError.checkCancellation()
        try await fault?(MemoryOperation(kind: kind, path: path, moment: .before))
        try RemoteError.checkCancellation()
        let value = try await work()
        try await fault?(MemoryOperation(kind: kind, path: path, moment: .after))
        return value
    }

    func read<Value: Sendable>(
        _ rule: (SharedFolder) throws -> Value
    ) throws(RemoteError) -> Value {
        try tree.read(now: now(), author: author, rule)
    }

    func write(
        blobs: [(hash: ContentHash, bytes: [UInt8])] = [],
        _ rule: (inout SharedFolder) throws -> FolderEntry
    ) throws(RemoteError) -> Metadata {
        try tree.write(now: now(), author: author, blobs: blobs) { try $0.describe(rule(&$0)) }
    }
}
