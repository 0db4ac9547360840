public import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc
public import ServiceLifecycle

/// Synchronises a local directory with a folder on a server.
///
/// ``runOnce(_:)`` syncs until both agree; ``run()`` syncs continuously until it is cancelled. One mirror has one
/// engine at a time, across processes. No user's data is lost: it is in the mirror, in a conflict copy, in the mirror's
/// trash (`.byteclub/trash`) or in the server's history.
public final class SyncEngine: Service, Sendable {
    /// The mirror and its settings.
    let configuration: SyncConfiguration
    /// What happens while ``run()`` runs; the newest 4,096 events are kept for a slow reader.
    public let events: AsyncStream<SyncEvent>
    let remote: any Remote
    let eventSink: AsyncStream<SyncEvent>.Continuation

    /// Prepares an engine; nothing is opened before it runs.
    ///
    /// - Throws: ``SyncError`` with the code `configuration` when the mirror and its state would lie in each other.
    public init(configuration: SyncConfiguration, remote: any Remote) throws(SyncError) {
        var configuration = configuration
        configuration.directory = try Self.absolute(configuration.directory)
        configuration.stateDirectory = try Self.absolute(configuration.stateDirectory)
        configuration.parallelTransfers = min(max(1, configuration.parallelTransfers), 64)
        configuration.longPollTimeout = min(max(.seconds(30), configuration.longPollTimeout), .seconds(480))
        if (configuration.stateDirectory + "/").utf8.starts(with: (configuration.directory + "/").utf8) {
            throw SyncError(
                .configuration,
                "the state directory '\(configuration.stateDirectory)' is inside the mirror; choose one outside it")
        }
        self.configuration = configuration
        self.remote = remote
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4_096))
    }

    /// Syncs until mirror and server agree, or only items are left that must wait.
    ///
    /// `onEvent` is called from any thread, last with a `summary`. Cancelling the task ends it soon and leaves both
    /// sides in order; the next sync continues from there.
    ///
    /// - Throws: ``SyncError``; whatever was done until then stays done. After the summary, `remote` when the
    ///   server refused single entries for good: with the code `protocolViolation` when it violated the protocol about
    ///   them, with `forbidden` when the member's role does not allow them.
    public func runOnce(_ onEvent: @escaping @Sendable (SyncEvent) -> Void) async throws(SyncError) -> SyncSummary {
        do {
            let lock = try takeLock()
            let inbox = SyncInbox()
            let session = try SyncSession(
                configuration, remote, SyncEnvironment(configuration), inbox, onEvent: onEvent)
            let network = await followNetwork(inbox)
            defer { network?.cancel() }
            let (summary, refusal) = try await closing(session, lock) {
                // Two retries for items that waiting may help.
                let outcome = try await session.run(until: .agreement(retries: 2))
                if let pause = outcome.pause { await session.emit(SyncEvent(pause)) }
                let summary = try await session.summary()
                return (summary, summary.isComplete ? nil : await session.refusal)
            }
            onEvent(SyncEvent(.summary, summary: summary))
            // All that can be synced is synced; another sync would be refused as well.
            if let refusal { throw refusal }
            return summary
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    /// Syncs whenever the mirror or the server changes, until the task is cancelled or a graceful shutdown begins.
    ///
    /// Transient failures are reported as events and retried with exponential backoff.
    ///
    /// - Throws: ``SyncError`` when only a person can help: another engine runs, the mirror is missing, a wrong token.
    public func run() async throws { try await run(watching: .max) }

    /// Syncs continuously and watches at most `limit` folders.
    func run(watching limit: Int) async throws {
        try await cancelWhenGracefulShutdown { [self] in
            do {
                try await keepGoing(watching: limit)
            } catch {
                let error = SyncError.wrapping(error)
                if error.code != .cancelled { throw error }
            }
        }
    }

    private func keepGoing(watching limit: Int) async throws {
        let inbox = SyncInbox()
        let lock = try takeLock()
        let watcher = try Watcher(nudged: configuration.lockPath, limit: limit) { inbox.post(.disk($0)) }
        defer { watcher.stop() }
        let session = try SyncSession(
            configuration, remote, SyncEnvironment(configuration), inbox, watcher: watcher
        ) { [eventSink] in eventSink.yield($0) }
        let network = await followNetwork(inbox)
        defer { network?.cancel() }
        _ = try await closing(session, lock) { try await session.run(until: .never) }
    }

    /// Posts whether the network is metered: once before this returns, then after each change.
    ///
    /// - Returns: The task that does so; nil when it does not matter.
    private func followNetwork(_ inbox: SyncInbox) async -> Task<Void, Never>? {
        guard let states = configuration.networkIsMetered?() else { return nil }
        let (known, sink) = AsyncStream<Void>.makeStream()
        let task = Task {
            for await isMetered in states {
                inbox.post(.network(isMetered: isMetered))
                sink.finish()
            }
            sink.finish()
        }
        for await _ in known {}
        return task
    }

    /// Does some work with a session and closes it, whether or not the work throws.
    private func closing<Value: Sendable>(
        _ session: SyncSession, _ lock: MirrorLock, _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await work()
            try await session.close()
            lock.markClean()
            return value
        } catch {
            try? await session.close()
            throw error
        }
    }

    /// Acquires the mirror's lock, so that no other engine runs.
    func takeLock() throws -> MirrorLock {
        if isNew { try MirrorLock.makeDirectories(configuration.directory, mode: 0o777) }
        try MirrorLock.makeDirectories(configuration.stateDirectory, mode: 0o700)
        guard let lock = try MirrorLock(in: configuration.stateDirectory) else {
            let advice = MirrorLock.advice(in: configuration.stateDirectory)
            throw SyncError(.alreadyRunning, "another sync of '\(configuration.directory)' is running\(advice)")
        }
        return lock
    }

    private static func absolute(_ path: String) throws(SyncError) -> String {
        if path.isEmpty || path.utf8.contains(0) { throw SyncError(.configuration, "the directory's path is empty") }
        var base = path
        if !path.hasPrefix("/") {
            guard let working = workingFolder() else {
                throw SyncError(.configuration, "the working directory is gone")
            }
            base = working + "/" + path
        }
        var parts: [Substring] = []
        for part in base.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}

extension SyncError {
    /// Converts any error to a ``SyncError``.
    static func wrapping(_ error: any Error) -> SyncError {
        switch error {
        case let error as SyncError: error
        case let error as RemoteError where error.code == .cancelled: SyncError(.cancelled, "cancelled")
        case let error as RemoteError: SyncError(.remote(error), error.message)
        case is CancellationError: SyncError(.cancelled, "cancelled")
        case let error as FileError: SyncError(.io, error.description)
        default: SyncError(.io, "\(error)")
        }
    }

    /// Runs a body; any error of it is converted.
    static func wrapped<Value>(_ body: () throws -> Value) throws(SyncError) -> Value {
        do { return try body() } catch { throw wrapping(error) }
    }
}

extension SyncConfiguration {
    /// Where the mirror's database is.
    var databasePath: String { stateDirectory + "/" + SQLiteTreeStore.fileName }

    /// The lock file of a running engine; touching it wakes the engine.
    var lockPath: String { stateDirectory + "/" + MirrorLock.fileName }

    /// Has a running engine read the changes in its database.
    func nudge() { _ = unsafe utimensat(AT_FDCWD, lockPath, nil, 0) }

    /// Whether an engine runs for the mirror, in any process.
    var isRunning: Bool {
        let isFree = try? FileDescriptor.open(lockPath, O_RDONLY).lock(LOCK_SH | LOCK_NB)
        return isFree == false
    }

    /// Opens the database; nil when there is none.
    private func store(_ mode: SQLiteConnection.Mode) throws(SyncError) -> SQLiteTreeStore? {
        let path = databasePath
        if let store = try SQLiteTreeStore.existing(path: path, mode) { return store }
        guard DatabaseFile.isUnusable(path) else { return nil }
        throw SyncError(
            .database, "the mirror's database '\(path)' is damaged or of another version; the next sync replaces it"
        )
    }

    /// Reads the database, also while an engine has it open; nil when there is none.
    ///
    /// - Throws: ``SyncError``; what `body` throws is wrapped in one.
    func read<Value>(_ body: (SQLiteTreeStore) throws -> Value) throws(SyncError) -> Value? {
        try SyncError.wrapped {
            guard let store = try store(.reading) else { return nil }
            defer { try? store.close() }
            return try body(store)
        }
    }

    /// Changes the database durably, also while an engine has it open; nil when there is none.
    ///
    /// - Throws: ``SyncError``; what `body` throws is wrapped in one.
    func change<Value>(_ body: (SQLiteTreeStore) throws -> Value) throws(SyncError) -> Value? {
        try SyncError.wrapped {
            guard let store = try store(.writingExisting) else { return nil }
            defer { try? store.close() }
            let value = try store.transaction(durably: true) { try body(store) }
            nudge()
            return value
        }
    }
}
