import ByteClubCore
import Crypto
import FoundationEssentials
import GRDB

extension SQLiteStore {
    private static let columns = "m.uid, m.name, m.created, m.disabled, m.role"

    func addMember(name: String, role: Role?, oauth1: Bool) async throws -> NewMember {
        try Self.checkMemberName(name)
        let created = now().seconds
        let token = Secret.text(bytes: 32)
        let signed = oauth1 ? (token: Secret.text(bytes: 16), secret: Secret.text(bytes: 16)) : nil
        let added = try await writer.perform { transaction in
            let database = transaction.database
            let folded = PathKey.fold(name)
            let isTaken = try database.firstRow(
                "SELECT 1 FROM member WHERE folded = ? AND disabled = 0", [folded]
            ) { _ in true }
            if isTaken != nil { throw StorageError(.badMember, "there is a member '\(name)' already") }
            let isFirst = try database.firstRow("SELECT 1 FROM member WHERE disabled = 0", []) { _ in false } ?? true
            let role = role ?? (isFirst ? .owner : .editor)
            try transaction.execute(
                "INSERT INTO member(name, folded, created, role) VALUES (?, ?, ?, ?)",
                [name, folded, created, role.rawValue])
            let uid = database.lastInsertedRowID
            try transaction.execute(
                "INSERT INTO token(hash, member) VALUES (?, ?)", [Data(Self.hash(ofToken: token)), uid])
            try Self.countMemberChange(in: transaction)
            guard let signed else { return NewMember(name: name, token: token, uid: uid, oauth1: nil) }
            try transaction.execute(
                "INSERT INTO oauth1(token, secret, member) VALUES (?, ?, ?)", [signed.token, signed.secret, uid])
            let credentials = OAuth1Credentials(
                consumerKey: try Self.meta(Schema.Meta.consumerKey, in: database),
                consumerSecret: try Self.meta(Schema.Meta.consumerSecret, in: database), token: signed.token,
                tokenSecret: signed.secret,
                member: Member(
                    uid: uid, name: name, created: APIDate(seconds: created), role: role, isDisabled: false))
            return NewMember(name: name, token: token, uid: uid, oauth1: credentials)
        }
        memberCache.invalidate()
        return added
    }

    func members() async throws -> [Member] {
        try await query { database in
            try database.rows("SELECT \(Self.columns) FROM member m ORDER BY m.uid", [], Self.member)
        }
    }

    func removeMember(name: String) async throws {
        try await writer.perform { transaction in
            let uid = try transaction.database.firstRow(
                "SELECT uid FROM member WHERE folded = ? AND disabled = 0", [PathKey.fold(name)]
            ) { $0[0] as Int64 }
            guard let uid else { throw StorageError(.badMember, "there is no member '\(name)'") }
            try transaction.execute("UPDATE member SET disabled = 1 WHERE uid = ?", [uid])
            try transaction.execute("DELETE FROM token WHERE member = ?", [uid])
            try transaction.execute("DELETE FROM oauth1 WHERE member = ?", [uid])
            try Self.countMemberChange(in: transaction)
        }
        memberCache.invalidate()
    }

    func member(forToken token: String) async throws -> Member? {
        let hash = Self.hash(ofToken: token)
        let asked = ContinuousClock.now
        if let member = memberCache.member(hash, at: asked) { return member }
        let (member, generation) = try await query { database in
            let member = try database.firstRow(
                "SELECT \(Self.columns) FROM token t JOIN member m ON m.uid = t.member WHERE t.hash = ?", [Data(hash)],
                Self.member)
            let generation = try database.firstRow(
                "SELECT value FROM meta WHERE name = ?", [Schema.Meta.members]
            ) { $0[0] as Int64 }
            return (member, generation ?? 0)
        }
        memberCache.store(member, hash, generation: generation, at: asked)
        return member
    }

    func oauth1Credentials(consumerKey: String, token: String) async throws -> OAuth1Credentials? {
        try await query { database in
            guard try Self.meta(Schema.Meta.consumerKey, in: database) == consumerKey else { return nil }
            let consumerSecret = try Self.meta(Schema.Meta.consumerSecret, in: database)
            return try database.firstRow(
                """
                SELECT \(Self.columns), o.secret FROM oauth1 o JOIN member m ON m.uid = o.member
                WHERE o.token = ? AND m.disabled = 0
                """, [token]
            ) { row in
                OAuth1Credentials(
                    consumerKey: consumerKey, consumerSecret: consumerSecret, token: token, tokenSecret: row[5],
                    member: Self.member(row))
            }
        }
    }

    private static func checkMemberName(_ name: String) throws {
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard !name.isEmpty, name.utf8.count <= 255, isPlain, !name.hasPrefix(" "), !name.hasSuffix(" ") else {
            throw StorageError(
                .badMember, "a member's name has 1 to 255 bytes, no control characters and no blank at either end")
        }
    }

    private static func countMemberChange(in transaction: WriteTransaction) throws {
        try transaction.execute("UPDATE meta SET value = value + 1 WHERE name = ?", [Schema.Meta.members])
    }

    private static func hash(ofToken token: String) -> [UInt8] { Array(SHA256.hash(data: Array(token.utf8))) }

    private static func member(_ row: Row) -> Member {
        Member(
            uid: row[0], name: row[1], created: APIDate(seconds: row[2]), role: Role(rawValue: row[4]) ?? .viewer,
            isDisabled: (row[3] as Int) != 0)
    }
}
