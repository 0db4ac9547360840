/// A moment at which the engine is about to change something, for tests that stop it or step in between.
enum SyncEffect: Hashable, Sendable {
    /// A durable change of the database.
    case commit(String)
    /// A new file in staging.
    case stage(String)
    /// A rename of a file in the mirror, or out of it; the path on disk.
    case rename(String)
    /// A look at the file that changed places with the new one.
    case inspect(String)
    /// A new or removed folder.
    case folder(String)
    /// A call that changes the server.
    case call(String)
}

/// Told before each effect; what it throws ends the sync as a crash would.
struct SyncProbe: Sendable {
    var before: @Sendable (SyncEffect) throws -> Void = { _ in }
}

/// Ends a sync where it stands, as `kill -9` would: nothing is closed in order.
struct SimulatedCrash: Error {}
