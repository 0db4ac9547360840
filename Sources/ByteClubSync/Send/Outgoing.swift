import ByteClubCore

/// A write of the server, with what it was made from.
struct Write: Sendable {
    /// What it does to the server's tree.
    enum Effect: Sendable {
        case folder
        case content(ContentHash, size: Int64)
        case move(Place)
        /// How many entries go, those in a folder included.
        case delete(nodes: Int)
    }

    let item: ItemID
    let effect: Effect
    /// The disk's place and look when it was made; nil when the disk has no part in it.
    var local: LocalState?

    /// The content that it sends; nil when it sends none.
    var hash: ContentHash? {
        if case .content(let hash, _) = effect { hash } else { nil }
    }
}

/// A write in the extension's terms, ready to be sent.
struct Outgoing: Sendable {
    let write: Write
    let operation: SyncOperation
    /// The bytes that travel along.
    var bytes: [UInt8]?

    /// About how many bytes it takes in a batch.
    var weight: Int { (bytes?.count ?? 0) + 320 + operation.nameLength }
}

extension SyncOperation {
    fileprivate var nameLength: Int {
        switch action {
        case .create(let place, _), .revive(_, let place, _), .move(_, let place): 2 * place.name.utf8.count
        case .edit, .delete: 0
        }
    }
}

/// What came of one pass over all that is to be done.
struct Progress {
    /// Operations that took effect.
    var done = 0
    /// A failure that may pass by itself.
    var failure: RemoteError?

    mutating func add(_ other: Progress) {
        done += other.done
        failure = failure ?? other.failure
    }
}
