import ByteClubCore

/// Creates the replica for a server by its powers.
final class RemoteConnector {
    let remote: any Remote
    private let context: SyncContext
    private let scanner: Scanner
    private let operations: OperationIDs
    /// The replica; nil before the first ``connect()``.
    private(set) var replica: (any RemoteReplica)?

    init(_ context: SyncContext, _ remote: any Remote, _ scanner: Scanner, _ operations: OperationIDs) {
        self.context = context
        self.remote = remote
        self.scanner = scanner
        self.operations = operations
    }

    /// The replica; asks the server for its powers the first time.
    ///
    /// - Throws: ``RemoteError`` when the server cannot be asked; the next call asks again.
    func connect() async throws(RemoteError) -> any RemoteReplica {
        if let replica { return replica }
        let powers = try await remote.powers()
        let tree = RemoteTree(
            context, remote, scanner, ordersRevisions: powers.orderedRevisions || powers.sync != nil)
        let made: any RemoteReplica
        if context.configuration.usesExtension, let wire = powers.sync {
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
