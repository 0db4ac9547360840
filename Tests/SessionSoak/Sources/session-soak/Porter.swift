import Synchronization

@testable import ByteClubHTTP

/// Answers the challenges of one session, mostly rightly, and judges what it is asked.
final class Porter: Sendable {
    private struct State {
        var random: Seeded
        var last = 0
        /// The questions that wait for an answer.
        var open: [ProtectionSpace: Int] = [:]
    }

    private let ledger: Ledger
    private let proxy: String
    private let state: Mutex<State>

    init(_ world: World, _ random: Seeded) {
        ledger = world.ledger
        proxy = "http://\(world.proxy.authority)"
        state = Mutex(State(random: random))
    }

    /// Answers a handler's question; two at a time about one space break a promise.
    ///
    /// One whose tasks have all ended is cancelled, and another may be asked at once.
    func answer(_ challenge: AuthenticationChallenge) async -> ChallengeDecision {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            begin(number, challenge.space)
            defer { end(number) }
            return await decide(challenge)
        } onCancel: {
            end(number)
        }
    }

    private func begin(_ number: Int, _ space: ProtectionSpace) {
        let isSecond = state.withLock { state in
            // Its end has been noted already.
            if Task.isCancelled { return false }
            return state.open.updateValue(number, forKey: space) != nil
        }
        if isSecond { ledger.violation("two questions at once about \(space)") }
    }

    private func end(_ number: Int) {
        state.withLock { state in state.open = state.open.filter { $0.value != number } }
    }

    /// Decides about a challenge after a while, as a person would.
    func decide(_ challenge: AuthenticationChallenge) async -> ChallengeDecision {
        let (choice, pause) = state.withLock { state in
            (Int.random(in: 0..<24, using: &state.random), Int.random(in: 0...40, using: &state.random))
        }
        if challenge.previousFailureCount > 0 { ledger.outcome("question", "asked again") }
        if !(0..<5).contains(challenge.previousFailureCount) {
            ledger.violation("asked after \(challenge.previousFailureCount) failures")
        }
        guard ["basic", "digest"].contains(challenge.scheme), let owner = owner(of: challenge.space) else {
            ledger.violation("a question about \(challenge.space)")
            return .performDefault
        }
        if pause > 4 { try? await Task.sleep(for: .milliseconds(pause)) }
        switch choice {
        case 0:
            ledger.outcome("question", "not answered")
            return .performDefault
        case 1:
            ledger.outcome("question", "task cancelled")
            return .cancel
        case 2:
            ledger.outcome("question", "space rejected")
            return .rejectProtectionSpace
        case 3: return .use(PasswordCredential(user: "a:b\u{1}", password: ""))
        case 4..<8: return .use(Secret.credential(of: owner, for: challenge.scheme, isRight: false))
        default:
            ledger.outcome("question", "answered for \(challenge.isOfProxy ? "the proxy" : "a server")")
            return .use(Secret.credential(of: owner, for: challenge.scheme))
        }
    }

    /// Who asks: the proxy, or the origin behind one of its names.
    private func owner(of space: ProtectionSpace) -> String? {
        if space.isOfProxy { return space.origin == proxy ? "P" : nil }
        let host = space.origin.dropFirst("http://".count).prefix { $0 != ":" }
        if host == "127.0.0.1" || host == "soak-a.co.uk" || host.hasSuffix(".slow.invalid") { return "A" }
        return host == "127.0.0.2" || host == "soak-b.co.uk" ? "B" : nil
    }
}
