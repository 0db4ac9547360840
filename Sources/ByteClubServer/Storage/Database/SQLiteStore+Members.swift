import ByteClubCore
import Crypto
import FoundationEssentials
import GRDB

extension SQLiteStore {
    /// The columns that ``member(_:)`` reads.
    static let memberColumns = "m.uid, m.name, m.created, m.disabled, m.role"

    func addMember(name: String, role: Role?, oauth1: Bool) async throws -> NewMember {
        let now = now()
        let token = Secret.text(bytes: 32)
        let signed = oauth1 ? (token: Secret.text(bytes: 16), secret: Secret.text(bytes: 16)) : nil
        let added = try await writer.perform { transaction in
            let member = try Self.insertMember(name, role: role, now: now, in: transaction)
            try Self.insertDevice(
                Secret.hash(token), member: member.uid, app: "", name: "", now: now, in: transaction)
            guard let signed else { return NewMember(name: name, token: token, uid: member.uid, oauth1: nil) }
            let app = try transaction.database.firstRow(
                "SELECT \(Self.appColumns) FROM app WHERE name = ?", [App.oauth1Name], Self.app)
            guard let app, let secret = app.secret else {
                throw StorageError(.badMember, "the app '\(App.oauth1Name)' was removed, so it gets no keys")
            }
            try Self.insertDevice(
                Secret.hash(signed.token), secret: signed.secret, member: member.uid, app: app.key, name: "",
                now: now, in: transaction)
            let credentials = OAuth1Credentials(
                consumerKey: app.key, consumerSecret: secret, token: signed.token, tokenSecret: signed.secret,
                member: member)
            return NewMember(name: name, token: token, uid: member.uid, oauth1: credentials)
        }
        memberCache.invalidate()
        return added
    }

    func members() async throws -> [Member] {
        try await query { database in
            try database.rows("SELECT \(Self.memberColumns) FROM member m ORDER BY m.uid", [], Self.member)
        }
    }

    func removeMember(name: String) async throws {
        try await changeMember(name) { uid, transaction in
            try transaction.execute("UPDATE member SET disabled = 1, password = NULL WHERE uid = ?", [uid])
            for table in ["device", "request_token", "grant_code", "web_session"] {
                try transaction.execute("DELETE FROM \(table) WHERE member = ?", [uid])
            }
            try Self.withdrawInvitations(of: uid, in: transaction)
        }
    }

    func setRole(_ role: Role, ofMember name: String) async throws {
        try await changeMember(name) { uid, transaction in
            try transaction.execute("UPDATE member SET role = ? WHERE uid = ?", [role.rawValue, uid])
            if role < .owner { try Self.withdrawInvitations(of: uid, in: transaction) }
        }
    }

    func setPassword(_ hash: PasswordHash, ofMember name: String) async throws {
        try await changeMember(name) { uid, transaction in
            try transaction.execute("UPDATE member SET password = ? WHERE uid = ?", [hash.text, uid])
            try transaction.execute("DELETE FROM web_session WHERE member = ?", [uid])
        }
    }

    func credentials(ofMember name: String) async throws -> (member: Member, password: PasswordHash?)? {
        try await query { database in
            try database.firstRow(
                "SELECT \(Self.memberColumns), m.password FROM member m WHERE m.folded = ? AND m.disabled = 0",
                [PathKey.fold(name)]
            ) { row in
                (Self.member(row), (row[5] as String?).flatMap(PasswordHash.init(text:)))
            }
        }
    }

    private func changeMember(
        _ name: String, _ body: @escaping @Sendable (Int64, WriteTransaction) throws -> Void
    ) async throws {
        try await writer.perform { transaction in
            let uid = try transaction.database.firstRow(
                "SELECT uid FROM member WHERE folded = ? AND disabled = 0", [PathKey.fold(name)]
            ) { $0[0] as Int64 }
            guard let uid else { throw StorageError(.badMember, "there is no member '\(name)'") }
            try body(uid, transaction)
            try Self.countAccountChange(in: transaction)
        }
        memberCache.invalidate()
    }

    /// Nobody comes back by an invitation of their own.
    private static func withdrawInvitations(of uid: Int64, in transaction: WriteTransaction) throws {
        try transaction.execute("DELETE FROM invitation WHERE inviter = ?", [uid])
    }

    /// Adds a member's row.
    static func insertMember(
        _ name: String, role: Role?, password: PasswordHash? = nil, now: APIDate, in transaction: WriteTransaction
    ) throws -> Member {
        try checkMemberName(name)
        let folded = PathKey.fold(name)
        let database = transaction.database
        let isTaken = try database.firstRow(
            "SELECT 1 FROM member WHERE folded = ? AND disabled = 0", [folded]
        ) { _ in true }
        if isTaken != nil { throw StorageError(.badMember, "there is a member '\(name)' already") }
        let isFirst = try database.firstRow("SELECT 1 FROM member WHERE disabled = 0", []) { _ in false } ?? true
        let role = role ?? (isFirst ? .owner : .editor)
        try transaction.execute(
            "INSERT INTO member(name, folded, created, role, password) VALUES (?, ?, ?, ?, ?)",
            [name, folded, now.seconds, role.rawValue, password?.text])
        try countAccountChange(in: transaction)
        return Member(uid: database.lastInsertedRowID, name: name, created: now, role: role, isDisabled: false)
    }

    /// Tells other processes that what they remember of members may be wrong.
    static func countAccountChange(in transaction: WriteTransaction) throws {
        try transaction.execute("UPDATE meta SET value = value + 1 WHERE name = ?", [Schema.Meta.members])
    }

    /// The member in a row of ``memberColumns``.
    static func member(_ row: Row) -> Member {
        Member(
            uid: row[0], name: row[1], created: APIDate(seconds: row[2]), role: Role(rawValue: row[4]) ?? .viewer,
            isDisabled: (row[3] as Int) != 0)
    }

    private static func checkMemberName(_ name: String) throws {
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard !name.isEmpty, name.utf8.count <= 255, isPlain, !name.hasPrefix(" "), !name.hasSuffix(" ") else {
            throw StorageError(
                .badMember, "a member's name has 1 to 255 bytes, no control characters and no blank at either end")
        }
    }
}
