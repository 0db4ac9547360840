import ByteClubCore

/// A file whose bytes have changed though nothing tells that it was written to.
struct AuditFinding: Hashable, Sendable {
    let item: ItemID
    /// How the file looked when it was read.
    let handle: FileHandle
    let modified: Int64
    /// Under which path people were told of it.
    var path: String
}
