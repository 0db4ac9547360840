import Glibc
import HTTPTypes

/// Makes requests for programs that would have to load libcurl and connect first.
///
/// It has a session for each kind of trust, which is let go a while after its last use. Nothing of a request or its
/// answer is kept or logged.
actor Relay {
    /// Whom a session trusts: an authorities' file as it is now, since another one may come in its place.
    private struct Trust: Hashable {
        var file: String?
        var stamp: FileStamp?
        var keys: Set<PublicKeyPin>
    }

    private struct Entry {
        var session: Session
        var uses = 0
        var lastUse: Moment
    }

    /// The longest body that is passed on; a program fetches longer ones itself.
    static let longestBody: Int64 = 8 << 20
    /// How long an unused session is kept: somewhat longer than servers keep its connections.
    private static let lifetime = Duration.seconds(90)

    /// Once more at once, where a kept connection turned out to be dead; all else is the program's own business.
    private static let once: RetryPolicy = {
        var policy = RetryPolicy()
        (policy.statuses, policy.maximumAttempts, policy.firstDelay) = ([], 2, .zero)
        return policy
    }()

    private let lifetime: Duration
    private var entries: [Trust: Entry] = [:]
    private var sweep: Task<Void, Never>?

    init(lifetime: Duration = Relay.lifetime) { self.lifetime = lifetime }

    /// How many sessions there are.
    var count: Int { entries.count }

    /// Makes a request, and answers with the response whatever its status, or with what went wrong.
    ///
    /// Cancelling the surrounding Swift task cancels the request.
    func perform(_ request: RelayedRequest) async -> DaemonAnswer {
        guard request.request.method == .get || request.request.method == .head else {
            return .refused(code: TransferError.Code.badRequest.description, message: "only GET and HEAD are passed on")
        }
        let trust = Trust(
            file: request.certificateAuthorityFile, stamp: request.certificateAuthorityFile.flatMap(Self.stamp),
            keys: request.pinnedKeys)
        do throws(TransferError) {
            let session = try begin(trust)
            defer { end(trust) }
            var options = TaskOptions()
            options.redirects = .ownOrigin
            options.retryPolicy = Self.once
            options.maximumResponseBytes = Int(clamping: min(request.maximumResponseBytes, Self.longestBody))
            options.timeoutForRequest = .milliseconds(max(request.timeoutForRequest, 1))
            let (bytes, response) = try await session.data(for: request.request, options: options)
            return .relayed(RelayedResponse(response: response, bytes: bytes))
        } catch {
            return .refused(code: error.code.description, message: error.message)
        }
    }

    /// Ends all sessions; what is under way is cancelled.
    func close() async {
        sweep?.cancel()
        sweep = nil
        let sessions = entries.values.map(\.session)
        entries = [:]
        for session in sessions { await session.invalidateAndCancel() }
    }

    private func begin(_ trust: Trust) throws(TransferError) -> Session {
        var entry: Entry
        if let known = entries[trust] {
            entry = known
        } else {
            var configuration = SessionConfiguration.ephemeral
            configuration.certificateAuthorityFile = trust.file
            configuration.pinnedKeys = trust.keys
            // A program that has a proxy asks by itself.
            configuration.proxy = .none
            entry = Entry(session: try Session(configuration: configuration, name: "relay"), lastUse: .now)
        }
        entry.uses += 1
        entries[trust] = entry
        return entry.session
    }

    private func end(_ trust: Trust) {
        entries[trust]?.uses -= 1
        entries[trust]?.lastUse = .now
        guard sweep == nil else { return }
        sweep = Task {
            while !Task.isCancelled, let next = nextSweep() {
                try? await Task.sleep(for: next)
            }
        }
    }

    /// Lets go of what was not used for long; how long to wait for the next time, or nil when nothing is left.
    private func nextSweep() -> Duration? {
        let now = Moment.now
        entries = entries.filter { $0.value.uses > 0 || $0.value.lastUse.advanced(by: lifetime) > now }
        if !entries.isEmpty { return lifetime }
        sweep = nil
        return nil
    }

    private static func stamp(_ path: String) -> FileStamp? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? FileStamp(status) : nil
    }
}
