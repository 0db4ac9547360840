import ByteClubCore

/// A write of the server, with what it was made from.
struct OutgoingWrite: Sendable {
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
    /// Where the entry was on the server before it was moved or deleted, for those who are told.
    var pathBefore: String?

    /// The content that it sends; nil when it sends none.
    var hash: ContentHash? {
        if case .content(let hash, _) = effect { hash } else { nil }
    }

    /// Keeps in the log what the write has done; to be called in a transaction.
    ///
    /// - Returns: The event, and how many entries it concerns.
    func log(in context: SyncContext) throws -> SyncReport.Emission {
        switch effect {
        case .folder: return .init(event: try context.log(.makeRemoteFolder, item))
        case .content(_, let size): return .init(event: try context.log(.upload, item, bytes: size))
        case .move: return .init(event: try context.log(.moveRemote, item, from: pathBefore))
        case .delete(let nodes):
            let path = pathBefore ?? ""
            try context.log(.deleteRemote, path)
            return .init(event: SyncEvent(.deleteRemote, path: path), nodes: nodes)
        }
    }
}

extension SyncContext {
    /// Remembers what contents are on their way, so that they are known again when the answer is lost.
    func noteSending(_ writes: [OutgoingWrite]) throws {
        let contents = writes.filter { $0.hash != nil }
        if contents.isEmpty { return }
        try store.edit(durably: false) { editor in for write in contents { try editor.sending(write) } }
    }
}
