import ByteClubCore

/// What one round of syncing is to do.
struct Work: Sendable {
    var plan = Plan()
    /// Deletions that wait for somebody's word.
    var held: [Step] = []
    /// How many entries the held deletions stand for.
    var heldNodes = 0
    /// Local deletions for which the server never told one: to be asked about.
    var unconfirmed: [(path: RemotePath, synced: Revision?)] = []
    /// When a file that is being written now is to be looked at again.
    var nextLook: ContinuousClock.Instant?
}
