import ByteClubCore

/// Creates the replica for a server by its powers.
final class RemoteConnector {
    let tree: RemoteTree
    private let operations: OperationIDs
    /// The replica; nil before the first ``connect()``.
    private(set) var replica: (any RemoteReplica)?

    init(_ tree: RemoteTree, _ operations: OperationIDs) {
        self.tree = tree
        self.operations = operations
    }

    /// The replica; asks the server for its powers the first time.
    ///
    /// - Throws: ``RemoteError`` when the server cannot be asked; the next call asks again.
    func connect() async throws(RemoteError) -> any RemoteReplica {
        if let replica { return replica }
        let powers = try await tree.remote.powers()
        tree.ordersRevisions = powers.orderedRevisions || powers.sync != nil
        let made: any RemoteReplica
        if tree.context.configuration.usesExtension, let wire = powers.sync {
            do {
                made = try JournalReplica(tree, wire, operations, sendsManyChunks: powers.bulkChunks)
            } catch {
                throw RemoteError(.localFile, SyncError.wrapping(error).message)
            }
        } else {
            made = PathReplica(tree, hasLongPoll: powers.longPoll)
        }
        replica = made
        return made
    }
}
