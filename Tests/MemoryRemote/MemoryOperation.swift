public import ByteClubCore

/// A call of a ``MemoryRemote`` at one of the two moments at which a fault can be put in its way.
public struct MemoryOperation: Hashable, Sendable {
    /// Which call it is.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// ``Remote/account()``
        case account
        /// ``Remote/metadata(at:)``
        case metadata
        /// ``Remote/list(_:unless:includeDeleted:)``
        case list
        /// ``Remote/content(at:revision:range:limit:)``
        case content
        /// ``Remote/download(_:revision:to:progress:)``
        case download
        /// ``Remote/put(_:at:condition:policy:progress:)``
        case put
        /// ``Remote/thumbnail(of:size:format:)``
        case thumbnail
        /// ``Remote/search(_:query:limit:)``
        case search
        /// ``Remote/delta(after:prefix:)``
        case delta
        /// ``Remote/waitForChanges(after:timeout:)``
        case waitForChanges
        /// ``Remote/revisions(of:limit:)``
        case revisions
        /// ``Remote/restore(_:to:)``
        case restore
        /// ``Remote/createFolder(_:)``
        case createFolder
        /// ``Remote/delete(_:ifUnchangedSince:)``
        case delete
        /// ``Remote/move(_:to:)``
        case move
        /// ``Remote/copy(_:to:)``
        case copy
        /// ``SyncRemote/journal(after:limit:contents:wait:)``
        case journal
        /// ``SyncRemote/apply(_:contents:)``
        case apply
        /// ``SyncRemote/missingChunks(of:base:)``
        case missingChunks
        /// ``SyncRemote/putChunk(_:)``
        case putChunk
        /// ``SyncRemote/putChunks(_:)``
        case putChunks
        /// ``SyncRemote/sendUpload(_:progress:)``
        case sendUpload
        /// ``SyncRemote/digest(of:)``
        case digest
        /// ``HistoryRemote/history(before:after:limit:wait:)``
        case history

        /// Whether the call may change the tree.
        public var isWriting: Bool {
            switch self {
            case .put, .restore, .createFolder, .delete, .move, .copy, .apply: true
            default: false
            }
        }
    }

    /// The moment of a fault.
    public enum Moment: Hashable, Sendable {
        /// Nothing has happened yet: a fault here is a lost request.
        case before
        /// The call has had its effect: a fault here is a lost reply.
        case after
    }

    /// Which call it is.
    public var kind: Kind
    /// The path that it is about; nil for calls without one.
    public var path: RemotePath?
    /// Whether it has had its effect.
    public var moment: Moment
}
