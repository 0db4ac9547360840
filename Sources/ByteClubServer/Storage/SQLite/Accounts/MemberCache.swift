import Synchronization

/// Whose tokens were asked for lately, valid while the member list keeps its number.
///
/// Another process may change the list, so its number is read again after half a second.
final class MemberCache: Sendable {
    /// How long the list's number is believed.
    static let lifetime = Duration.milliseconds(500)
    private static let maximumCount = 10_000

    private struct State {
        var generation: Int64 = -1
        var checked: ContinuousClock.Instant?
        var members: [[UInt8]: Member] = [:]
    }

    private let state = Mutex(State())

    /// The member with a token's hash; nil when it must be looked up.
    func member(_ hash: [UInt8], at instant: ContinuousClock.Instant) -> Member? {
        state.withLock { state in
            guard let checked = state.checked, instant - checked < Self.lifetime else { return nil }
            return state.members[hash]
        }
    }

    /// Takes the answer of a lookup with the list's number at that time.
    func store(_ member: Member?, _ hash: [UInt8], generation: Int64, at instant: ContinuousClock.Instant) {
        state.withLock { state in
            if generation < state.generation { return }
            if generation != state.generation || state.members.count >= Self.maximumCount { state.members = [:] }
            state.generation = generation
            state.checked = max(instant, state.checked ?? instant)
            if let member { state.members[hash] = member }
        }
    }

    /// Forgets everything.
    func invalidate() {
        state.withLock { state in
            state.members = [:]
            state.checked = nil
        }
    }
}
