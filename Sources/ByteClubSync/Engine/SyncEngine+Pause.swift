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
