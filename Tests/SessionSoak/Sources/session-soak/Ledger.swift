import Glibc
import Synchronization

/// What broke a promise, and what was counted on the way.
final class Ledger: Sendable {
    private struct State {
        var violations = 0
        var outcomes: [String: Int] = [:]
        var posts: [String: Int] = [:]
        var requests = 0
        var faults: [String: Int] = [:]
        /// The tasks that must not send a request.
        var forbidden: Set<String> = []
    }

    private let state = Mutex(State())

    var violations: Int { state.withLock { $0.violations } }
    var requests: Int { state.withLock { $0.requests } }
    var outcomes: [String: Int] { state.withLock { $0.outcomes } }
    var faults: [String: Int] { state.withLock { $0.faults } }

    /// A promise was broken.
    func violation(_ text: String) {
        let count = state.withLock { state in
            state.violations += 1
            return state.violations
        }
        if count <= 100 { say("VIOLATION: \(text)") }
    }

    /// How a task ended.
    func outcome(_ kind: String, _ end: String) { state.withLock { $0.outcomes["\(kind): \(end)", default: 0] += 1 } }

    /// What a server did.
    func fault(_ name: String) { state.withLock { $0.faults[name, default: 0] += 1 } }

    /// A server got a whole head.
    ///
    /// One that was refused for lack of a credential may come again with it, whatever its method.
    func request(_ request: RecordedRequest, at origin: String, hops: String, isRefused: Bool) {
        let isRepeated = state.withLock { state in
            state.requests += 1
            guard request.method == "POST", request["idempotency-key"] == nil, !isRefused else { return false }
            state.posts["\(origin) \(request.target)", default: 0] += 1
            return state.posts["\(origin) \(request.target)", default: 0] > 1
        }
        if isRepeated { violation("a POST arrived twice at \(origin): \(request.target)") }
        checkConditions(of: request)
        let hasLeft = hops.contains { String($0) != origin }
        checkSecrets(of: request, for: origin)
        for (name, value) in request.fields where value.contains("secret-for-") {
            // A challenge may be answered after a redirect as well.
            if hasLeft, name != "cookie", !Secret.isAnswer(value) {
                violation("a secret came back to \(origin) after a foreign redirect: \(name) in \(request.target)")
            }
        }
    }

    /// The proxy got a whole head; what is for the origin is judged there.
    func proxyRequest(_ request: RecordedRequest) {
        state.withLock { $0.requests += 1 }
        checkConditions(of: request)
        var own = request
        if request.method != "CONNECT" { own.fields.removeAll { $0.name != "proxy-authorization" } }
        checkSecrets(of: own, for: "P")
    }

    /// Until it is allowed again, a task with this name in its request sends none, whatever server it is for.
    func forbid(_ name: String) { state.withLock { _ = $0.forbidden.insert(name) } }

    /// A task may send requests from now on.
    func allow(_ name: String) { state.withLock { _ = $0.forbidden.remove(name) } }

    private func checkConditions(of request: RecordedRequest) {
        guard let name = request["x-held"], state.withLock({ $0.forbidden.contains(name) }) else { return }
        violation("a request used a network that its task must not use: \(request.method) \(request.target)")
    }

    /// No secret arrives where it is not for, and no password of Digest by Basic.
    private func checkSecrets(of request: RecordedRequest, for owner: String) {
        for (name, value) in request.fields {
            let owners = Secret.owners(in: value)
            if owners.contains(where: { $0 != owner }) {
                violation("a secret of another origin arrived at \(owner): \(name): \(value) in \(request.target)")
            }
            if Secret.revealsDigest(value) { violation("a password for Digest arrived by Basic at \(owner): \(value)") }
        }
    }

    /// Each POST has an address of its own, so older ones never come again.
    func forgetPosts() { state.withLock { $0.posts = [:] } }
}

/// Prints one line at once.
func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(1, line, line.count)
}
