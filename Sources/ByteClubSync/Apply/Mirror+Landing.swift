import ByteClubCore

/// Many new files on their way to the disk.
struct Landing {
    /// Which items they are.
    let items: Set<ItemID>
    /// Ends when they are in staging, whole and durable; tells which are, and what went wrong with others.
    let work: Task<Staged, any Error>

    /// What has come into staging.
    struct Staged: Sendable {
        var incoming: [Incoming] = []
        var failures: [(item: ItemID, error: FileError)] = []
    }
}

extension Mirror {
    /// From how many files on they are written beside other work.
    private static var manyFiles: Int { 64 }

    /// The items of which new files are on their way.
    var landingItems: Set<ItemID> { (landing?.items ?? []).union(landed.map(\.incoming.item)) }

    /// Puts new contents in their places, many of them beside other work.
    ///
    /// One group is written and synced while the one before gets its names, and one sync of the file system serves the
    /// contents of a group and the names of that before.
    ///
    /// - Returns: How many are there for good by now; ``settleLandings()`` brings the rest.
    func land(_ incoming: [Incoming]) async throws -> Int {
        guard let area, incoming.count >= Self.manyFiles else {
            let received = try install(incoming)
            for one in received { try tell(.download, one.incoming.item, bytes: one.incoming.size) }
            return received.count
        }
        let staging = area.staging
        let writing = Task(executorPreference: surroundings.workers) { await Self.stage(incoming, in: staging) }
        let done: Int
        do {
            done = try await takeLanding()
        } catch {
            _ = await writing.value
            throw error
        }
        let staged = await writing.value
        let root = root
        let syncing = Task(executorPreference: surroundings.workers) { try await Self.syncing(staged, root) }
        landing = Landing(items: Set(incoming.map(\.item)), work: syncing)
        return done
    }

    /// Brings what is under way to its end; tells how many files that were.
    func settleLandings() async throws -> Int {
        var done = try await takeLanding()
        if landed.isEmpty { return done }
        try await Self.syncFileSystem(root)
        done += try rememberLanded()
        return done
    }

    /// Gives the files of the group under way their names, and remembers those before, whose names are durable now.
    private func takeLanding() async throws -> Int {
        guard let area, let group = landing else { return 0 }
        landing = nil
        let staged = try await group.work.value
        let done = try rememberLanded()
        for failure in staged.failures { try note(failure.error, about: failure.item) }
        try note(arriving: staged.incoming)
        try store.reading {
            for var one in staged.incoming {
                do {
                    if let look = try place(&one, area) { landed.append(Received(incoming: one, look: look)) }
                } catch let error as FileError {
                    try note(error, about: one.item)
                }
            }
        }
        return done
    }

    private func rememberLanded() throws -> Int {
        let received = landed
        landed = []
        if received.isEmpty { return 0 }
        try remember(received, of: received.map(\.incoming.item))
        try together {
            for one in received { try tell(.download, one.incoming.item, bytes: one.incoming.size) }
        }
        return received.count
    }

    @concurrent private static func stage(_ incoming: [Incoming], in staging: any DiskFolder) async -> Landing.Staged {
        var staged = Landing.Staged()
        for var one in incoming {
            guard let bytes = one.bytes else { continue }
            do throws(FileError) {
                one.handle = try write(bytes, one.stage.text, staging, durably: false)
                staged.incoming.append(one)
            } catch {
                staged.failures.append((one.item, error))
            }
        }
        return staged
    }

    @concurrent private static func syncing(
        _ staged: Landing.Staged, _ root: any DiskFolder
    ) async throws -> Landing.Staged {
        try root.syncFileSystem()
        return staged
    }

    @concurrent private static func syncFileSystem(_ root: any DiskFolder) async throws { try root.syncFileSystem() }
}
