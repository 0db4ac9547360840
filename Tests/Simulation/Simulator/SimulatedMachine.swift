import ByteClubCore
import Glibc
import TestSupport

@testable import ByteClubSync

/// One member's machine: a disk, a database, and an engine that can be stopped dead before any of its effects.
final class SimulatedMachine: @unchecked Sendable {
    // Invariant: a simulation runs on one thread.
    let number: Int
    let disk = SimulatedDisk()
    let database = MemoryTreeStore()
    /// Whether the engine's store is a SQLite database, which is compared with the one in memory.
    var usesSQLite = false
    let network: SimulatedNetwork
    let executor: SimulationExecutor
    var configuration: SyncConfiguration
    /// How many effects the engine may still have before it is stopped; nil for as many as it likes.
    var life: Int?
    /// Which of the engine's calls fails, once; nil for none.
    var failingCall: Int?
    /// Whether an engine goes on with what it knows after a failure, as one that runs all day does.
    var outlivesFailures = false
    /// How many calls of disk, database and network there were.
    private(set) var effects = 0
    /// Told what the engine tells.
    var onEvent: @Sendable (SyncEvent) -> Void = { _ in }
    /// Told of each call, and whether it only reads.
    var onPassage: ((_ isRead: Bool) -> Void)?
    private(set) var isDead = false
    /// How often it has started anew; what an engine of before still has under way reaches the database no more.
    private var starts = 0
    /// Invariants that a cycle left broken.
    private(set) var violations: [String] = []
    /// The session of the engine that runs, or ran last.
    private(set) var session: SyncSession?
    /// What happens to it.
    private(set) var inbox = SyncInbox()
    private(set) var isSyncing = false
    /// How its last run ended.
    private(set) var lastOutcome: Result<SessionOutcome, any Error>?
    let clock = SimulatedClock()
    /// Up to how many bytes a file travels in a group: every other machine sends and fetches large ones by themselves.
    let groupedBytes: Int64
    /// The watcher of a session without end; nil for one that goes for agreement.
    private(set) var watcher: SimulatedWatcher?
    /// How likely an event of the watcher goes astray, 0 to 1.
    var watchFaults = 0.0
    private var running: Task<Void, Never>?
    /// Time since the machine was built.
    var uptime: Duration {
        get { clock.now.sinceStart }
        set { clock.advance(to: SyncInstant(sinceStart: newValue)) }
    }

    init(_ number: Int, _ network: SimulatedNetwork, _ executor: SimulationExecutor, usesExtension: Bool) {
        self.number = number
        self.network = network
        self.executor = executor
        configuration = SyncConfiguration(directory: "/mirror\(number)", stateDirectory: "/state\(number)")
        configuration.remoteRoot = .root
        configuration.approvesDeletions = true
        configuration.usesExtension = usesExtension
        configuration.parallelTransfers = 3
        groupedBytes = number.isMultiple(of: 2) ? ChunkManifest.maximumChunkBytes : SyncBatch.maximumInlineBytes
        disk.failure = { [unowned self] call in
            switch passage(isRead: call.verb.isRead) {
            case .goes: nil
            case .fails: call.verb.takesRoom && effects.isMultiple(of: 2) ? ENOSPC : EIO
            case .stopped: EIO
            }
        }
        network.passage = { [unowned self] in passage() }
        network.disk = disk
    }

    /// How a call of the engine goes.
    enum Passage {
        case goes, fails, stopped
    }

    /// Counts a call and tells how it goes; none does once the engine has been stopped.
    func passage(isRead: Bool = false) -> Passage {
        if isDead { return .stopped }
        effects += 1
        onPassage?(isRead)
        if let life {
            self.life = life - 1
            if life <= 0 { isDead = true }
        }
        if isDead { return .stopped }
        return effects == failingCall ? .fails : .goes
    }

    /// Starts a run to agreement, opening the mirror first where that is due.
    func sync() {
        if isSyncing { return }
        isSyncing = true
        clock.isAutomatic = true
        Task(executorPreference: executor) { [self] in
            do {
                let session = try opened()
                lastOutcome = .success(try await session.run(until: .agreement(retries: 0)))
                checkTrees()
            } catch {
                lastOutcome = .failure(error)
                if !outlivesFailures || isDead { session = nil }
            }
            isSyncing = false
        }
    }

    /// Starts a session without end.
    func start() {
        if isSyncing { return }
        isSyncing = true
        clock.isAutomatic = false
        running = Task(executorPreference: executor) { [self] in
            do {
                let session = try opened(isContinuous: true)
                _ = try await session.run(until: .never)
            } catch {
                lastOutcome = .failure(error)
                session = nil
            }
            isSyncing = false
        }
    }

    /// Ends a session without end, which takes some steps.
    func stop() {
        running?.cancel()
        network.endWait()
    }

    /// Stops the engine dead.
    func kill() { isDead = true }

    /// Touches the file that asks for attention, as a command does that has changed the settings.
    func nudge() { inbox.post(.disk(DiskChange(isNudge: true))) }

    func checkTrees() {
        for side in [Side.local, .remote] {
            guard let lost = database.trees.orphan(on: side) else { continue }
            violations.append("\(lost) has lost its folder on the \(side) side")
        }
    }

    /// Waits for the server's changes beside a run, as a session without end does, and posts them.
    func poll() {
        guard session != nil, configuration.usesExtension else { return }
        Task(executorPreference: executor) { [network, inbox, database] in
            for _ in 0..<3 {
                guard let cursor = database.meta(.cursor),
                    let changes = try? await network.journal(after: cursor, limit: 100, contents: .all, wait: .zero)
                else { return }
                inbox.post(.polled(.page(changes, after: cursor)))
            }
        }
    }

    /// The world of an engine.
    var environment: SyncEnvironment {
        // The machine outlives its engines, and holds the last one.
        SyncEnvironment(
            disk: disk,
            openStore: { [unowned self, starts] in
                SimulatedStore(try store()) { [unowned self] in
                    starts == self.starts ? passage(isRead: $0) : .stopped
                }
            },
            executor: executor, workers: executor, clock: clock,
            groupedBytes: groupedBytes)
    }

    private func store() throws -> any TreeStore {
        guard usesSQLite else { return database }
        return try TwinStore(database) { [unowned self] in violations.append($0) }
    }

    private func opened(isContinuous: Bool = false) throws -> SyncSession {
        if let session { return session }
        database.reopen()
        inbox = SyncInbox()
        watcher =
            isContinuous
            ? SimulatedWatcher(inbox, faults: watchFaults, seed: UInt64(number + 1) &* 7_919 &+ UInt64(starts)) : nil
        disk.onChange = { [weak watcher] in watcher?.note($0) }
        let opened = try SyncSession(configuration, network, environment, inbox, watcher: watcher) { [weak self] in
            self?.onEvent($0)
        }
        session = opened
        return opened
    }

    /// Starts anew after the engine was stopped; a power cut loses what was not yet on the disk.
    func restart(afterPowerCut: Bool, using random: inout SeededGenerator) {
        if afterPowerCut {
            disk.crash(using: &random)
            database.crash(using: &random)
        }
        session = nil
        starts += 1
        network.starts += 1
        isDead = false
        life = nil
        failingCall = nil
    }
}

extension SimulatedMachine {
    /// What its trees hold, an item a line.
    var account: [String] {
        database.trees.items.map { item in
            let local =
                item.local.map { "\($0.location.parent)/\($0.location.name)\($0.isLeftover ? " leftover" : "")" } ?? "-"
            let remote =
                item.remote.map {
                    "\($0.location.parent)/\($0.location.name) r\($0.revision?.description ?? "-") n\($0.node?.text ?? "-")"
                }
                ?? "-"
            let synced =
                item.synced.map { "\($0.location.parent)/\($0.location.name) r\($0.revision?.description ?? "-")" }
                ?? "-"
            let state = "\(item.isSettled ? "" : " UNSETTLED")\(item.isFrozen ? " FROZEN" : "")"
            return
                "  machine \(number) item \(item.id): disk \(local), server \(remote), synced \(synced), last \(item.lastNode?.text ?? "-")\(state)"
        }
    }
}
