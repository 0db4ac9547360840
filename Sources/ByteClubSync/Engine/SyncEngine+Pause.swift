public import ByteClubCore

extension SyncEngine {
    /// Pauses the mirror for a time, or until it is resumed; a running engine finishes its current step.
    ///
    /// - Throws: ``SyncError`` with the code `configuration` when the mirror was never synced.
    public static func pause(_ configuration: SyncConfiguration, for time: Duration?) throws(SyncError) {
        let until = time.map { "\(WallClock.now() / 1_000_000_000 + max(1, $0.components.seconds))" } ?? "forever"
        let isKnown: Void? = try configuration.change { store in try store.setMeta(.pausedUntil, until) }
        if isKnown == nil {
            throw SyncError(.configuration, "'\(configuration.directory)' was never synced; there is nothing to pause")
        }
    }

    /// Ends a pause; a running engine continues at once.
    ///
    /// - Returns: Whether the mirror was paused.
    @discardableResult
    public static func resume(_ configuration: SyncConfiguration) throws(SyncError) -> Bool {
        try configuration.change { store in
            let wasPaused = try store.meta(.pausedUntil) != nil
            try store.setMeta(.pausedUntil, nil)
            return wasPaused
        } ?? false
    }
}

extension TreeStore {
    /// Until when syncing is paused, in seconds since 1970, or `Int64.max` until it is resumed; nil when it is not.
    ///
    /// A pause that is over is forgotten.
    func pausedUntil(at seconds: Int64) throws -> Int64? {
        guard let text = try meta(.pausedUntil) else { return nil }
        if text == "forever" { return .max }
        if let until = Int64(text), until > seconds { return until }
        try setMeta(.pausedUntil, nil)
        return nil
    }
}
