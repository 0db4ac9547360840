public import ByteClubCore

extension SyncEngine {
    /// Compares disk and server with the mirror's database: reads every file, and compares the server's tree by its
    /// digest, or entry by entry when that differs.
    ///
    /// First both sides are scanned as by a sync, in a copy of the mirror's state, so that pending changes are reported
    /// as such. Nothing is changed, and an engine may run meanwhile. `progress` is called after every few files, with
    /// how many were compared and how many bytes were read.
    ///
    /// - Throws: ``SyncError``, `cancelled` soon after the task is.
    public func verify(
        progress: (_ files: Int, _ bytes: Int64) -> Void
    ) async throws(SyncError) -> SyncVerification {
        do {
            var environment = try SyncEnvironment(configuration)
            let database = configuration.databasePath
            environment.openStore = { try SQLiteTreeStore.scratchCopy(path: database) }
            let verifier = try Verifier(configuration, remote, environment)
            do {
                var result = try await verifier.begin()
                var last: ItemID?
                while let part = try await verifier.compareDisk(after: last) {
                    last = part.last
                    result.add(part.found)
                    progress(result.files, result.bytes)
                }
                result.add(try await verifier.compareServer())
                try await verifier.close()
                return result
            } catch {
                try? await verifier.close()
                throw error
            }
        } catch {
            throw SyncError.wrapping(error)
        }
    }
}

extension SyncVerification {
    /// Adds what was found in a part.
    mutating func add(_ part: SyncVerification) {
        files += part.files
        folders += part.folders
        bytes += part.bytes
        unsettled += part.unsettled
        skipped += part.skipped
        for difference in part.differences { add(difference) }
    }
}
