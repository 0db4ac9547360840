import ByteClubCore

/// A file whose bytes have changed although its times and size have not.
struct AuditFinding: Hashable, Sendable {
    let item: ItemID
    /// The file's stat when it was read.
    let handle: FileHandle
    let modified: Int64
    /// The path under which it was reported.
    var path: String
}
