import ByteClubCore
import GRDB

extension SQLiteStore {
    func standingVersion() async throws -> Int64 {
        try await query { try Self.standingVersion(in: $0) }
    }

    /// How often accounts have changed.
    static func standingVersion(in database: Database) throws -> Int64 {
        try database.firstRow("SELECT value FROM meta WHERE name = ?", [Schema.Meta.members]) { $0[0] } ?? 0
    }

    func lapsed(_ standings: Set<Standing>) async throws -> Set<Standing> {
        try await query { database in try standings.filter { try !Self.letsIn($0, in: database) } }
    }

    private static func letsIn(_ standing: Standing, in database: Database) throws -> Bool {
        let (source, condition, arguments): (String, String, StatementArguments) =
            switch standing {
            case .member(let uid): ("member m", "m.uid = ?", [uid])
            case .device(let token):
                ("device d JOIN member m ON m.uid = d.member", "d.hash = ?", [Secret.hash(token)])
            case .session(let secret):
                ("web_session s JOIN member m ON m.uid = s.member", "s.hash = ?", [Secret.hash(secret)])
            case .link(let purpose, let secret):
                (
                    "link l JOIN member m ON m.uid = l.member", "l.secret = ? AND l.purpose = ?",
                    [secret, purpose.rawValue]
                )
            }
        return try database.firstRow(
            "SELECT 1 FROM \(source) WHERE \(condition) AND m.disabled = 0", arguments
        ) { _ in true } ?? false
    }
}
