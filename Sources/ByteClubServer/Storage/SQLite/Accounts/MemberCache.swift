import Synchronization

/// Whose tokens and browser sessions were asked for lately, valid while the member list keeps its number.
///
/// Another process may change the list, so its number is read again after half a second.
final class MemberCache: Sendable {
    /// The hash of what a member shows; a session's secret is no token.
    enum Key: Hashable, Sendable {
        case token([UInt8])
        case session([UInt8])
    }

    /// How long the list's number is believed.
    static let lifetime = Duration.milliseconds(500)
    private static let maximumCount = 10_000

    private struct State {
        var generation: Int64 = -1
        var checked: ContinuousClock.Instant?
        /// When all was forgotten last: what was asked for before may be wrong.
        var invalidated: ContinuousClock.Instant?
        var members: [Key: (member: Member, expires: Int64)] = [:]
    }

    private let state = Mutex(State())

    /// The member who shows something, in this second by the wall clock; nil when it must be looked up.
    func member(_ key: Key, at instant: ContinuousClock.Instant, now: Int64) -> Member? {
        state.withLock { state in
            guard let checked = state.checked, instant - checked < Self.lifetime else { return nil }
            return state.members[key].flatMap { $0.expires > now ? $0.member : nil }
        }
    }

    /// Takes the answer of a lookup that began at an instant, with the list's number at that time.
    ///
    /// - Parameters:
    ///   - member: Who it is; nil for nobody.
    ///   - key: What was shown.
    ///   - expires: The second by the wall clock from which on it is worth nothing.
    ///   - generation: The list's number.
    ///   - instant: When the lookup began.
    func store(
        _ member: Member?, _ key: Key, until expires: Int64 = .max, generation: Int64,
        at instant: ContinuousClock.Instant
    ) {
        state.withLock { state in
            if generation < state.generation || state.invalidated.map({ instant <= $0 }) ?? false { return }
            if generation != state.generation || state.members.count >= Self.maximumCount { state.members = [:] }
            state.generation = generation
            state.checked = max(instant, state.checked ?? instant)
            if let member { state.members[key] = (member, expires) }
        }
    }

    /// Forgets everything, also what lookups under way will find.
    func invalidate(at instant: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.members = [:]
            state.checked = nil
            state.invalidated = instant
        }
    }
}
