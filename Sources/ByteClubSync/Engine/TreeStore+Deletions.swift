import ByteClubCore

extension TreeStore {
    /// The planned deletions as the guard judges them.
    func candidates(_ deletions: [PlannedOperation]) throws -> [DeletionGuard.Candidate] {
        try deletions.map { operation in
            let weight = operation.side == .remote ? try remoteCount(operation.item) : 1
            return DeletionGuard.Candidate(operation: operation, weight: weight)
        }
    }
}

extension SyncEvent {
    /// The event of a deletion that the guard holds.
    static func held(_ path: String) -> SyncEvent {
        SyncEvent(
            .held, path: path,
            message:
                "too many deletions at once to be believed; put the files back, or see 'byteclub sync deletes review'")
    }
}
