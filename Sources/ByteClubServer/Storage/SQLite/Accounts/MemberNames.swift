import GRDB
import Synchronization

/// What members are called: each keeps the name and the number for good, so what was found once stays right.
final class MemberNames: Sendable {
    private let names = Mutex<[Int64: String]>([:])

    /// A member's name where it was asked for before.
    subscript(known uid: Int64) -> String? { names.withLock { $0[uid] } }

    /// A member's name; nil for a number that nobody has.
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

    /// What ``SharedFolder`` asks for names while it is over a database.
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
