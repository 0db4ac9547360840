import HTTPTypes
import Synchronization

/// A credential that many tasks share, renewed once for all of them when a server refuses it.
///
/// The first task that is refused starts a renewal; whoever is refused with the same credential or wants to start
/// meanwhile waits for it. Cancelling a task that waits ends that task alone. A refused task is sent once more with the
/// new credential, whatever its method, since a refused request was not carried out; a second refusal is its result. The
/// repetition counts as an attempt but is made also where retries are off. A task that was redirected to another
/// origin is neither given a credential again nor sent once more.
public final class Authentication<Provider: Authenticator>: Sendable {
    private struct State {
        var credential: Provider.Credential
        /// Which credential it is, counted from 1.
        var generation: UInt64 = 1
        var refresh: Refresh?
        var recent: RecentRefreshes?
    }

    /// A renewal under way.
    private struct Refresh {
        /// Which credential it replaces.
        let generation: UInt64
        let task: Task<Void, any Error>
    }

    let refusals: Set<Int>
    private let provider: Provider
    private let state: Mutex<State>

    /// Begins with a credential.
    ///
    /// - Parameters:
    ///   - provider: Applies and renews credentials.
    ///   - credential: The present one.
    ///   - refusals: The statuses by which a server says that it takes a credential no more.
    ///   - window: How often to renew at most; nil for no limit.
    public init(
        _ provider: Provider, credential: Provider.Credential, refusals: Set<Int> = [401],
        window: RefreshWindow? = RefreshWindow()
    ) {
        self.provider = provider
        self.refusals = refusals
        state = Mutex(State(credential: credential, recent: window.map { RecentRefreshes($0) }))
    }

    /// The present credential.
    ///
    /// Setting one, for example after a new sign-in, makes a renewal under way worthless: what it brings is dropped, and
    /// its failure fails no task that has the new one.
    public var credential: Provider.Credential {
        get { state.withLock { $0.credential } }
        set {
            state.withLock { state in
                state.credential = newValue
                state.generation += 1
            }
        }
    }
}

/// What the session needs of an ``Authentication``, whatever its credentials are.
protocol CredentialKeeper: Sendable {
    var refusals: Set<Int> { get }

    /// Puts the present credential on a request, and tells which one it was.
    func apply(to request: HTTPRequest) async throws -> (HTTPRequest, UInt64)

    /// Returns once there is another credential than this one.
    func renew(after generation: UInt64) async throws
}

extension Authentication: CredentialKeeper {
    func apply(to request: HTTPRequest) async throws -> (HTTPRequest, UInt64) {
        var mayRenew = true
        while true {
            let (credential, generation, refresh) = state.withLock { ($0.credential, $0.generation, $0.refresh) }
            if let refresh, refresh.generation == generation {
                // Failing, it may have been about a credential that was replaced meanwhile.
                do { try await refresh.task.value } catch { if isPresent(generation) { throw error } }
            } else if mayRenew, provider.isExpired(credential) {
                mayRenew = false
                try await renew(after: generation)
            } else {
                var request = request
                try await provider.apply(credential, to: &request)
                return (request, generation)
            }
        }
    }

    func renew(after generation: UInt64) async throws {
        while isPresent(generation) {
            let running = try state.withLock { state -> Refresh? in
                guard state.generation == generation else { return nil }
                if let running = state.refresh { return running }
                if state.recent?.begin(at: .now) == false {
                    throw TransferError(
                        .authenticationFailed, "the credential was renewed too often and is still refused")
                }
                let old = state.credential
                // A task of its own: whoever waits for it may be cancelled, the renewal goes on for the others.
                let refresh = Refresh(
                    generation: generation, task: Task.detached { try await self.replace(old, generation) })
                state.refresh = refresh
                return refresh
            }
            // One of another credential is waited for as well, since there is never more than one.
            do { try await running?.task.value } catch {
                if running?.generation == generation, isPresent(generation) { throw error }
            }
        }
    }

    private func isPresent(_ generation: UInt64) -> Bool { state.withLock { $0.generation == generation } }

    private func replace(_ old: Provider.Credential, _ generation: UInt64) async throws {
        let result: Result<Provider.Credential, any Error>
        do { result = .success(try await provider.refresh(old)) } catch { result = .failure(error) }
        state.withLock { state in
            state.refresh = nil
            guard case .success(let new) = result, state.generation == generation else { return }
            state.credential = new
            state.generation += 1
        }
        _ = try result.get()
    }
}
