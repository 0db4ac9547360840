import HTTPTypes
import Synchronization

/// A credential shared by many tasks, renewed once for all of them when a server rejects it.
///
/// The first rejected task starts a renewal; others that are rejected with the same credential, or want to start, wait
/// for it. Cancelling a waiting task ends only that task. A rejected task is sent again with the new credential,
/// whatever its method, since the server did not execute it. If that credential is rejected as well, one more renewal
/// and one more repetition follow; a third rejection is the task's result. So is the second, if the renewal brought the
/// same credential again (see ``Authenticator/refresh(_:for:)``) or the ``RefreshWindow`` allows no other. A repetition
/// counts as an attempt, but also happens if retries are disabled. A task that was redirected to another origin gets no
/// credential there and is not repeated.
public final class Authentication<Provider: Authenticator>: Sendable {
    private struct State {
        var credential: Provider.Credential
        /// The number of the credential, from 1.
        var generation: UInt64 = 1
        /// Whether it came by a renewal and equals the one before.
        var isSame = false
        var refresh: Refresh?
        var recent: RecentRefreshes?
    }

    /// A renewal in progress.
    private struct Refresh {
        /// The number of the credential that it replaces.
        let generation: UInt64
        let task: Task<Void, any Error>
    }

    let refusals: Set<Int>
    private let provider: Provider
    private let state: Mutex<State>

    /// Starts with a credential.
    ///
    /// - Parameters:
    ///   - provider: Applies and renews credentials.
    ///   - credential: The current credential.
    ///   - refusals: The statuses by which a server rejects a credential.
    ///   - window: The limit on renewals; nil for none.
    public init(
        _ provider: Provider, credential: Provider.Credential, refusals: Set<Int> = [401],
        window: RefreshWindow? = RefreshWindow()
    ) {
        self.provider = provider
        self.refusals = refusals
        state = Mutex(State(credential: credential, recent: window.map { RecentRefreshes($0) }))
    }

    /// The current credential.
    ///
    /// Setting it, for example after a new sign-in, discards the result of a renewal in progress; the failure of that
    /// renewal does not fail tasks that use the new credential.
    public var credential: Provider.Credential {
        get { state.withLock { $0.credential } }
        set {
            state.withLock { state in
                state.credential = newValue
                state.generation += 1
                state.isSame = false
            }
        }
    }
}

/// The part of an ``Authentication`` that does not depend on its credential type.
protocol CredentialKeeper: Sendable {
    var refusals: Set<Int> { get }

    /// Adds the current credential to a request, and returns its number.
    func apply(to request: HTTPRequest) async throws -> (HTTPRequest, UInt64)

    /// Returns when a newer credential than this one exists; the rejection is nil if it has expired.
    func renew(after generation: UInt64, for rejection: CredentialRejection?) async throws

    /// Whether a task that got this credential by a renewal may have another one.
    func mayRenewAgain(after generation: UInt64) -> Bool
}

/// A response that rejects a credential.
struct CredentialRejection: Sendable {
    /// How often one task may be sent with another credential.
    static let most: UInt8 = 2

    let response: HTTPResponse
    /// The origin of the rejected request.
    let origin: String
    /// The number of credentials rejected in the task, with this one.
    let number: UInt8

    /// What the server asks for; reading is left to the task that starts a renewal.
    var challenges: [AuthenticationChallenge] {
        var all = AuthenticationChallenge.all(in: response.headerFields, origin: origin)
        for index in all.indices { all[index].previousFailureCount = Int(number) }
        return all
    }
}

extension Authentication: CredentialKeeper {
    func apply(to request: HTTPRequest) async throws -> (HTTPRequest, UInt64) {
        var mayRenew = true
        while true {
            let (credential, generation, refresh) = state.withLock { ($0.credential, $0.generation, $0.refresh) }
            if let refresh, refresh.generation == generation {
                // The failed renewal may have been for a credential replaced meanwhile.
                do { try await refresh.task.value } catch { if isPresent(generation) { throw error } }
            } else if mayRenew, provider.isExpired(credential) {
                mayRenew = false
                try await renew(after: generation, for: nil)
            } else {
                var request = request
                try await provider.apply(credential, to: &request)
                return (request, generation)
            }
        }
    }

    func renew(after generation: UInt64, for rejection: CredentialRejection?) async throws {
        while isPresent(generation) {
            let running = try state.withLock { state -> Refresh? in
                guard state.generation == generation else { return nil }
                if let running = state.refresh { return running }
                if state.recent?.begin(at: .now) == false {
                    throw TransferError(
                        .authenticationFailed, "the credential was renewed too often and is still rejected")
                }
                let old = state.credential
                // A separate task: cancelling a task that waits must not cancel the renewal for the others.
                let refresh = Refresh(
                    generation: generation,
                    task: Task.detached { try await self.replace(old, generation, rejection?.challenges ?? []) })
                state.refresh = refresh
                return refresh
            }
            // A renewal of another credential is awaited as well, since only one runs at a time.
            do { try await running?.task.value } catch {
                if running?.generation == generation, isPresent(generation) { throw error }
            }
        }
    }

    func mayRenewAgain(after generation: UInt64) -> Bool {
        state.withLock { state in
            guard state.generation == generation, state.refresh?.generation != generation else { return true }
            return !state.isSame && state.recent?.hasRoom(at: .now) != false
        }
    }

    private func isPresent(_ generation: UInt64) -> Bool { state.withLock { $0.generation == generation } }

    private func replace(
        _ old: Provider.Credential, _ generation: UInt64, _ challenges: [AuthenticationChallenge]
    ) async throws {
        let result: Result<Provider.Credential, any Error>
        do { result = .success(try await provider.refresh(old, for: challenges)) } catch { result = .failure(error) }
        // Outside the lock, since the comparison is user code.
        let isSame = if case .success(let new) = result { Self.areEqual(old, new) } else { false }
        state.withLock { state in
            state.refresh = nil
            guard case .success(let new) = result, state.generation == generation else { return }
            state.credential = new
            state.generation += 1
            state.isSame = isSame
        }
        _ = try result.get()
    }

    /// Whether two credentials are of a type that can be compared, and equal.
    private static func areEqual(_ old: Provider.Credential, _ new: Provider.Credential) -> Bool {
        func equals<Value: Equatable>(_ old: Value) -> Bool { new as? Value == old }
        guard let old = old as? any Equatable else { return false }
        return equals(old)
    }
}
