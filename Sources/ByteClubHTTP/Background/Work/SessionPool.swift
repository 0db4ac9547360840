import Logging
import Synchronization

/// The sessions of a daemon's work, which share its rate limit.
///
/// Built-in work has a session for each kind of trust; other work opens its own. Each session gets a share of the rate in
/// proportion to its running tasks.
final class SessionPool: Sendable {
    /// The certificates that a session accepts.
    struct Trust: Sendable, Hashable {
        var certificateAuthorityFile: String?
        var pinnedKeys: Set<PublicKeyPin>
    }

    private enum Key: Hashable {
        case trust(Trust)
        case own(BackgroundTask.ID, Int)
    }

    private struct Member {
        let session: Session
        /// The tasks that use it.
        var users: Set<BackgroundTask.ID>
        /// The upper bound of its share; nil for none.
        var most: Int?
    }

    private struct State {
        var members: [Key: Member] = [:]
        var rate: Int?
        var opened = 0
    }

    private let state = Mutex(State())
    private let maximumTasks: Int
    private let logger: Logger?

    init(maximumTasks: Int, logger: Logger?) {
        self.maximumTasks = maximumTasks
        self.logger = logger
    }

    /// The session for a task's trust, which the task uses until ``leave(_:)``.
    func session(for id: BackgroundTask.ID, _ options: BackgroundOptions) throws(TransferError) -> Session {
        let trust = Trust(
            certificateAuthorityFile: options.certificateAuthorityFile, pinnedKeys: options.pinnedKeys)
        return try state.withLock { state throws(TransferError) in
            var member: Member
            if let found = state.members[.trust(trust)] {
                member = found
            } else {
                var configuration = SessionConfiguration.ephemeral
                // Retries and the time limit are up to the queue.
                configuration.retryPolicy = .never
                configuration.timeoutForResource = .seconds(3650 * 86400)
                configuration.maximumTasks = maximumTasks
                configuration.maximumTasksPerHost = maximumTasks
                configuration.certificateAuthorityFile = trust.certificateAuthorityFile
                configuration.pinnedKeys = trust.pinnedKeys
                configuration.logger = logger
                let session = try Session(configuration: configuration, name: "transfers")
                member = Member(session: session, users: [], most: nil)
            }
            member.users.insert(id)
            state.members[.trust(trust)] = member
            Self.share(state)
            return member.session
        }
    }

    /// Opens a session for one task, until ``leave(_:)``.
    func open(
        _ configuration: SessionConfiguration, name: String, for id: BackgroundTask.ID, _ options: BackgroundOptions
    ) throws(TransferError) -> Session {
        let session = try Session(configuration: configuration, name: name)
        let limits = [configuration.rateLimit, options.rateLimit].compactMap { $0 }
        state.withLock { state in
            state.opened += 1
            state.members[.own(id, state.opened)] = Member(session: session, users: [id], most: limits.min())
            Self.share(state)
        }
        return session
    }

    /// Ends a task's use of sessions.
    func leave(_ id: BackgroundTask.ID) {
        state.withLock { state in
            state.members = state.members.filter { key, _ in
                if case .own(id, _) = key { false } else { true }
            }
            for key in state.members.keys { state.members[key]?.users.remove(id) }
            Self.share(state)
        }
    }

    /// Changes the limit of all sessions together, in bytes per second and direction; nil for none.
    func setRate(_ rate: Int?) {
        state.withLock { state in
            guard state.rate != rate else { return }
            state.rate = rate
            Self.share(state)
        }
    }

    /// Ends the sessions that no task uses, or all of them.
    func close(all: Bool = false) async {
        let ended = state.withLock { state in
            let ended = state.members.filter { all || $0.value.users.isEmpty }
            for key in ended.keys { state.members[key] = nil }
            return ended.values.map(\.session)
        }
        for session in ended { await session.invalidateAndCancel() }
    }

    private static func share(_ state: borrowing State) {
        let all = state.members.values.reduce(0) { $0 + $1.users.count }
        for member in state.members.values where !member.users.isEmpty {
            let part = state.rate.map { max(Int(Double($0) * Double(member.users.count) / Double(all)), 1) }
            member.session.setRateLimit([part, member.most].compactMap { $0 }.min())
        }
    }
}
