import ByteClubCore
import FoundationEssentials
import GRDB

extension SQLiteStore {
    private static let day: Int64 = 86_400

    func member(forToken token: String) async throws -> Member? {
        let hash = Secret.hash(token)
        let asked = ContinuousClock.now
        let key = MemberCache.Key.token(Array(hash))
        if let member = memberCache.member(key, at: asked, now: now().seconds) { return member }
        let (found, generation) = try await query { database in
            let found = try database.firstRow(
                """
                SELECT \(Self.memberColumns), d.id, d.seen FROM device d JOIN member m ON m.uid = d.member
                WHERE d.hash = ? AND d.secret IS NULL
                """, [hash]
            ) { (member: Self.member($0), device: $0[5] as Int64, seen: $0[6] as Int64) }
            return (found, try Self.standingVersion(in: database))
        }
        memberCache.store(found?.member, key, generation: generation, at: asked)
        if let found { await note(found.device, seen: found.seen) }
        return found?.member
    }

    func oauth1Credentials(consumerKey: String, token: String) async throws -> OAuth1Credentials? {
        let found = try await query { database in
            try database.firstRow(
                """
                SELECT \(Self.memberColumns), d.secret, a.secret, d.id, d.seen FROM device d
                JOIN member m ON m.uid = d.member JOIN app a ON a.key = d.app
                WHERE d.hash = ? AND d.secret IS NOT NULL AND a.key = ?
                """, [Secret.hash(token), consumerKey]
            ) { row in
                let credentials = OAuth1Credentials(
                    consumerKey: consumerKey, consumerSecret: row[6], token: token, tokenSecret: row[5],
                    member: Self.member(row))
                return (credentials: credentials, device: row[7] as Int64, seen: row[8] as Int64)
            }
        }
        if let found { await note(found.device, seen: found.seen) }
        return found?.credentials
    }

    func devices(of member: Int64) async throws -> [Device] {
        try await query { database in
            try database.rows(
                """
                SELECT d.id, d.app, a.name, d.name, d.created, d.seen FROM device d LEFT JOIN app a ON a.key = d.app
                WHERE d.member = ? ORDER BY d.id DESC
                """, [member]
            ) { row in
                let key: String = row[1]
                let name: String? = key == App.byteclub.key ? App.byteclub.name : row[2] as String?
                return Device(
                    id: row[0], app: key, appName: name, name: row[3], created: APIDate(seconds: row[4]),
                    seen: APIDate(seconds: row[5]))
            }
        }
    }

    func addDevice(member: Int64, app: String, name: String) async throws -> String {
        let token = Secret.text(bytes: 32)
        let now = now()
        let isAdded = try await writer.perform { transaction in
            try Self.insertDevice(
                Secret.hash(token), member: member, app: app, name: name, now: now, in: transaction)
        }
        guard isAdded else { throw StorageError.memberGone }
        return token
    }

    func removeDevice(_ id: Int64, of member: Int64) async throws -> Bool {
        try await revoke("DELETE FROM device WHERE id = ? AND member = ?", [id, member])
    }

    func removeDevice(holding token: String) async throws {
        _ = try await revoke("DELETE FROM device WHERE hash = ?", [Secret.hash(token)])
    }

    /// Deletes rows that let somebody in; false when there are none.
    func revoke(_ sql: String, _ arguments: StatementArguments) async throws -> Bool {
        defer { memberCache.invalidate() }
        return try await writer.perform { transaction in
            let count = try transaction.execute(sql, arguments)
            if count > 0 { try Self.countAccountChange(in: transaction) }
            return count > 0
        }
    }

    /// Adds a device's row; false when the member was removed.
    @discardableResult
    static func insertDevice(
        _ hash: Data, secret: String? = nil, member: Int64, app: String, name: String, now: APIDate,
        in transaction: WriteTransaction
    ) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO device(hash, secret, member, app, name, created, seen)
            SELECT ?, ?, uid, ?, ?, ?, ? FROM member WHERE uid = ? AND disabled = 0
            """, [hash, secret, app, name, now.seconds, now.seconds, member]) > 0
    }

    /// Stores the day on which a device was last seen; a full disk must not lock devices out.
    private func note(_ device: Int64, seen: Int64) async {
        let now = now().seconds
        guard now - seen >= Self.day else { return }
        _ = try? await writer.perform { transaction in
            try transaction.execute("UPDATE device SET seen = ? WHERE id = ?", [now, device])
        }
    }
}
