import GRDB
import Synchronization

/// The members of recent tokens and browser sessions, valid while the member list keeps its number.
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
        /// When the cache was last emptied: lookups that began before may be wrong.
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

    /// Stores the answer of a lookup that began at an instant, with the list's number at that time.
    ///
    /// - Parameters:
    ///   - member: The member; nil for none.
    ///   - key: The credentials.
    ///   - expires: The second by the wall clock from which on they are invalid.
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

/// The names of members, which are right for ever: names and numbers never change.
final class MemberNames: Sendable {
    private let names = Mutex<[Int64: String]>([:])

    /// A member's name where it was asked for before.
    subscript(known uid: Int64) -> String? { names.withLock { $0[uid] } }

    /// A member's name; nil for an unknown number.
    func name(of uid: Int64, in database: Database) throws -> String? {
        if let known = self[known: uid] { return known }
        let name = try database.firstRow("SELECT name FROM member WHERE uid = ?", [uid]) { $0[0] as String }
        if let name { names.withLock { $0[uid] = name } }
        return name
    }
}

extension SQLiteStore {
    func name(ofMember uid: Int64) async throws -> String? {
        if let known = memberNames[known: uid] { return known }
        let names = memberNames
        return try await query { try names.name(of: uid, in: $0) }
    }

    /// The names for a ``SharedFolder`` over a database.
    func names(in database: Database) -> (Int64) throws -> String? {
        let names = memberNames
        // Most of a listing is by few.
        var last: (uid: Int64, name: String?) = (0, nil)
        return { uid in
            if uid != last.uid { last = (uid, try names.name(of: uid, in: database)) }
            return last.name
        }
    }
}
