import ByteClubCore
import FoundationEssentials
import GRDB

extension SQLiteStore {
    func addInvitation(role: Role, lifetime: Int64, by inviter: Int64) async throws -> String {
        let secret = Secret.text(bytes: 16)
        try await insertExpiring(
            "invitation(hash, role, inviter, expires)", [Secret.hash(secret), role.rawValue, inviter],
            lifetime: lifetime
        ) { transaction in
            // The invitations of a member who stops being an owner are withdrawn, so none may be made after that.
            let isOwner = "SELECT 1 FROM member WHERE uid = ? AND disabled = 0 AND role = ?"
            if inviter > 0, try !transaction.database.hasRow(isOwner, [inviter, Role.owner.rawValue]) {
                throw StorageError.noInviter
            }
        }
        return secret
    }

    func addOwnerInvitation(
        lifetime: Int64, secret: @Sendable (_ expires: Int64) -> String
    ) async throws -> (secret: String, expires: APIDate)? {
        let expires = now().seconds + lifetime
        let secret = secret(expires)
        return try await writer.perform { transaction in
            if try Self.hasOwner(in: transaction.database) { return nil }
            try transaction.execute(
                "INSERT INTO invitation(hash, role, inviter, expires) VALUES (?, ?, ?, ?)",
                [Secret.hash(secret), Role.owner.rawValue, Invitation.byNobody, expires])
            return (secret, APIDate(seconds: expires))
        }
    }

    func invitations() async throws -> [OpenInvitation] {
        let now = now().seconds
        return try await query { database in
            try database.rows(
                """
                SELECT i.hash, i.role, i.expires, m.name FROM invitation i LEFT JOIN member m ON m.uid = i.inviter
                WHERE i.expires > ? ORDER BY i.expires, i.hash
                """, [now]
            ) { row in
                OpenInvitation(
                    id: OpenInvitation.id(row[0]),
                    invitation: Invitation(
                        role: Role(rawValue: row[1]) ?? .viewer, expires: APIDate(seconds: row[2])),
                    inviter: row[3])
            }
        }
    }

    func removeInvitation(id: String) async throws -> Bool {
        try await writer.perform { transaction in
            try transaction.execute("DELETE FROM invitation WHERE lower(hex(substr(hash, 1, 4))) = ?", [id]) > 0
        }
    }

    func invitation(_ secret: String) async throws -> Invitation? {
        let now = now().seconds
        return try await query { try Self.invitation(secret, now: now, in: $0) }
    }

    func redeemInvitation(_ secret: String, name: String, password: PasswordHash) async throws -> Member? {
        let now = now()
        return try await writer.perform { transaction in
            guard let invitation = try Self.invitation(secret, now: now.seconds, in: transaction.database) else {
                return nil
            }
            let member = try Self.insertMember(
                name, role: invitation.role, password: password, now: now, in: transaction)
            try transaction.execute("DELETE FROM invitation WHERE hash = ?", [Secret.hash(secret)])
            return member
        }
    }

    private static func invitation(_ secret: String, now: Int64, in database: Database) throws -> Invitation? {
        try database.firstRow(
            "SELECT role, expires FROM invitation WHERE hash = ? AND expires > ?", [Secret.hash(secret), now]
        ) { Invitation(role: Role(rawValue: $0[0]) ?? .viewer, expires: APIDate(seconds: $0[1])) }
    }
}
