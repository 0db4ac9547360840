import ByteClubCore
import GRDB

extension SQLiteStore {
    func link(
        _ purpose: Link.Purpose, to path: RemotePath, member: Int64, expires: APIDate
    ) async throws -> Link {
        let (now, key) = (now().seconds, path.key.string)
        let fresh = Secret.text(bytes: 16)
        return try await writer.perform { transaction in
            try transaction.execute("DELETE FROM link WHERE expires <= ?", [now])
            try transaction.execute(
                """
                INSERT INTO link(secret, purpose, member, path, expires) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT(path, purpose, member) DO UPDATE SET expires = excluded.expires
                """, [fresh, purpose.rawValue, member, key, expires.seconds])
            let secret = try transaction.database.firstRow(
                "SELECT secret FROM link WHERE path = ? AND purpose = ? AND member = ?",
                [key, purpose.rawValue, member]
            ) { $0[0] as String }
            return Link(secret: secret ?? fresh, path: path, expires: expires)
        }
    }

    func link(_ purpose: Link.Purpose, secret: String) async throws -> Link? {
        let now = now().seconds
        return try await query { database in
            try database.firstRow(
                """
                SELECT l.path, l.expires FROM link l JOIN member m ON m.uid = l.member
                WHERE l.secret = ? AND l.purpose = ? AND l.expires > ? AND m.disabled = 0
                """, [secret, purpose.rawValue, now]
            ) { row in
                Link(secret: secret, path: try RemotePath(row[0]), expires: APIDate(seconds: row[1]))
            }
        }
    }

    func file(at revision: Int64, linkedBy member: Int64) async throws -> FolderEntry? {
        try await query { database in
            let isMember = try database.firstRow(
                "SELECT 1 FROM member WHERE uid = ? AND disabled = 0", [member]
            ) { _ in true }
            let state = SQLiteFolderState(reading: database)
            guard isMember == true, let version = try state.version(revision), !version.isFolder, !version.isDeleted,
                let newest = try state.latest(version.path.key), !newest.isDeleted, !newest.isFolder
            else { return nil }
            return version
        }
    }
}
