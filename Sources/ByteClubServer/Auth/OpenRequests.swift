import ByteClubCore
import NIOCore
import Synchronization

/// The credential that a request depends on: when it is revoked, the request ends, however far it has come.
enum Standing: Hashable, Sendable {
    /// A member, named by a cursor where the protocol asks for no token.
    case member(Int64)
    /// A device, by the token that it showed.
    case device(token: String)
    /// A session in a browser, by the secret of its cookie.
    case session(String)
    /// A link, by its secret.
    case link(Link.Purpose, String)

    /// The refusal of a request whose credential was revoked while it ran.
    static let refusal = APIError(401, "access was revoked during the request")
}

/// The running requests, the credential of each, and which credentials must be checked.
///
/// It is pure; ``OpenRequests`` queries the store and ends the requests. A credential is checked once after its request
/// began, because the request may have been admitted from a cache, and again after each change of accounts.
struct StandingTable<Request: Hashable> {
    private struct Entry {
        let standing: Standing
        /// The version of the accounts at which it was last found to let people in; nil before the first look.
        var seen: Int64?
    }

    private var entries: [Request: Entry] = [:]

    /// Whether no request is under way.
    var isEmpty: Bool { entries.isEmpty }

    /// Records the credential of a request, in place of an earlier one.
    mutating func begin(_ request: Request, on standing: Standing) { entries[request] = Entry(standing: standing) }

    /// Forgets a request, whether it is known or not.
    mutating func end(_ request: Request) { entries[request] = nil }

    /// The credentials to check at a version of the accounts.
    func due(at version: Int64) -> Set<Standing> {
        Set(entries.values.lazy.filter { $0.seen != version }.map(\.standing))
    }

    /// Records the results of a check, and forgets the requests that end.
    ///
    /// - Parameters:
    ///   - looked: The credentials that were checked, after the version was read.
    ///   - lapsed: The revoked ones among them.
    ///   - version: The version of the accounts that was read before.
    /// - Returns: The requests to end.
    mutating func settle(_ looked: Set<Standing>, lapsed: Set<Standing>, at version: Int64) -> [Request] {
        var ended: [Request] = []
        for (request, entry) in entries where looked.contains(entry.standing) {
            if lapsed.contains(entry.standing) {
                ended.append(request)
                entries[request] = nil
            } else {
                entries[request]?.seen = version
            }
        }
        return ended
    }
}

/// The running authenticated requests, each of which ends within a second after its credential is revoked.
///
/// It does not matter which process revoked it. One task polls twice a second for changes of accounts; no request has a
/// timer of its own.
final class OpenRequests: Sendable {
    private let store: any SessionStore
    fileprivate let table = Mutex(StandingTable<OpenRequest>())

    /// Starts without requests.
    init(store: any SessionStore) {
        self.store = store
    }

    /// Looks until its task is cancelled.
    func watch() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: MemberCache.lifetime)
            // A look that fails has settled nothing, so that the next one does.
            try? await look()
        }
    }

    /// Ends the requests whose credential was revoked.
    ///
    /// - Throws: ``StorageError`` of the database.
    private func look() async throws {
        if table.withLock({ $0.isEmpty }) { return }
        let version = try await store.standingVersion()
        let due = table.withLock { $0.due(at: version) }
        if due.isEmpty { return }
        let lapsed = try await store.lapsed(due)
        table.withLock { table in
            // The connection gets the event under the lock, before anything that is written after
            // ``OpenRequest/end()``: so only this request can be ended by it.
            for request in table.settle(due, lapsed: lapsed, at: version) { request.shutOut() }
        }
    }
}

/// One request, from when its sender is known until the last of its answer is about to be sent.
final class OpenRequest: Hashable, Sendable {
    private let requests: OpenRequests
    private let channel: any Channel
    private let shutOutFlag = Atomic(false)

    /// A request on a connection, which rests on nothing yet.
    init(_ requests: OpenRequests, on channel: any Channel) {
        self.requests = requests
        self.channel = channel
    }

    /// Whether its sender's credential was revoked.
    var isShutOut: Bool { shutOutFlag.load(ordering: .acquiring) }

    /// Records its sender's credential.
    func rest(on standing: Standing) { requests.table.withLock { $0.begin(self, on: standing) } }

    /// Notes that nothing but the last of its answer is left to send: nothing ends it after this.
    func end() { requests.table.withLock { $0.end(self) } }

    /// Makes its connection end the request.
    fileprivate func shutOut() {
        shutOutFlag.store(true, ordering: .releasing)
        channel.triggerUserOutboundEvent(ShutOut(), promise: nil)
    }

    static func == (one: OpenRequest, other: OpenRequest) -> Bool { one === other }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The event with which a connection ends a request whose credential was revoked.
struct ShutOut: Sendable {}
