import ByteClubCore
import GRDB

extension SQLiteStore {
    func addRequestToken(app: String) async throws -> (token: String, secret: String) {
        let (token, secret) = (Secret.text(bytes: 16), Secret.text(bytes: 16))
        try await insertExpiring(
            "request_token(hash, secret, app, expires)", [Secret.hash(token), secret, app],
            lifetime: Grant.requestLifetime)
        return (token, secret)
    }

    func requestToken(_ token: String) async throws -> (app: App, secret: String)? {
        let now = now().seconds
        return try await query { database in
            try database.firstRow(
                """
                SELECT a.key, a.secret, a.name, a.redirects, r.secret FROM request_token r JOIN app a ON a.key = r.app
                WHERE r.hash = ? AND r.expires > ?
                """, [Secret.hash(token), now]
            ) { (Self.app($0), $0[4]) }
        }
    }

    func approveRequestToken(_ token: String, by member: Int64) async throws -> Bool {
        let now = now().seconds
        return try await writer.perform { transaction in
            try transaction.execute(
                "UPDATE request_token SET member = ? WHERE hash = ? AND expires > ? AND member IS NULL",
                [member, Secret.hash(token), now]) > 0
        }
    }

    func redeemRequestToken(_ token: String) async throws -> OAuth1Credentials? {
        let (fresh, secret) = (Secret.text(bytes: 16), Secret.text(bytes: 16))
        let now = now()
        return try await writer.perform { transaction in
            let found = try transaction.database.firstRow(
                """
                SELECT \(Self.memberColumns), a.key, a.secret FROM request_token r JOIN app a ON a.key = r.app
                JOIN member m ON m.uid = r.member WHERE r.hash = ? AND r.expires > ? AND m.disabled = 0
                """, [Secret.hash(token), now.seconds]
            ) { (member: Self.member($0), key: $0[5] as String, secret: $0[6] as String) }
            guard let found else { return nil }
            try transaction.execute("DELETE FROM request_token WHERE hash = ?", [Secret.hash(token)])
            try Self.insertDevice(
                Secret.hash(fresh), secret: secret, member: found.member.uid, app: found.key, name: "", now: now,
                in: transaction)
            return OAuth1Credentials(
                consumerKey: found.key, consumerSecret: found.secret, token: fresh, tokenSecret: secret,
                member: found.member)
        }
    }

    func addCode(_ grant: Grant) async throws -> String {
        let code = Secret.text(bytes: 16)
        try await insertExpiring(
            "grant_code(hash, app, member, redirect, challenge, device, expires)",
            [Secret.hash(code), grant.app, grant.member, grant.redirect, grant.challenge, grant.device],
            lifetime: Grant.lifetime)
        return code
    }

    func redeemCode(
        _ code: String, where isMeant: @escaping @Sendable (Grant) -> Bool
    ) async throws -> (grant: Grant, token: String)? {
        let (token, now) = (Secret.text(bytes: 32), now())
        return try await writer.perform { transaction in
            let grant = try transaction.database.firstRow(
                """
                SELECT app, member, redirect, challenge, device FROM grant_code WHERE hash = ? AND expires > ?
                """, [Secret.hash(code), now.seconds]
            ) { Grant(app: $0[0], member: $0[1], redirect: $0[2], challenge: $0[3], device: $0[4]) }
            guard let grant else { return nil }
            try transaction.execute("DELETE FROM grant_code WHERE hash = ?", [Secret.hash(code)])
            guard isMeant(grant) else { return nil }
            let isAdded = try Self.insertDevice(
                Secret.hash(token), member: grant.member, app: grant.app, name: grant.device, now: now, in: transaction)
            return isAdded ? (grant, token) : nil
        }
    }

    func addWebSession(member: Int64, password: PasswordHash, lifetime: Int64) async throws -> String? {
        let (secret, now) = (Secret.text(bytes: 32), now().seconds)
        return try await writer.perform { transaction in
            try transaction.execute("DELETE FROM web_session WHERE expires <= ?", [now])
            let count = try transaction.execute(
                """
                INSERT INTO web_session(hash, member, expires)
                SELECT ?, uid, ? FROM member WHERE uid = ? AND disabled = 0 AND password = ?
                """, [Secret.hash(secret), now + lifetime, member, password.text])
            return count > 0 ? secret : nil
        }
    }

    func webSession(_ secret: String) async throws -> Member? {
        let (hash, now) = (Secret.hash(secret), now().seconds)
        let (key, asked) = (MemberCache.Key.session(Array(hash)), ContinuousClock.now)
        if let member = memberCache.member(key, at: asked, now: now) { return member }
        let (found, generation) = try await query { database in
            let found = try database.firstRow(
                """
                SELECT \(Self.memberColumns), s.expires FROM web_session s JOIN member m ON m.uid = s.member
                WHERE s.hash = ? AND s.expires > ? AND m.disabled = 0
                """, [hash, now]
            ) { (member: Self.member($0), expires: $0[5] as Int64) }
            return (found, try Self.standingVersion(in: database))
        }
        memberCache.store(found?.member, key, until: found?.expires ?? 0, generation: generation, at: asked)
        return found?.member
    }

    func removeWebSession(_ secret: String) async throws {
        _ = try await revoke("DELETE FROM web_session WHERE hash = ?", [Secret.hash(secret)])
    }

    /// Adds a row whose last column is its expiry, unless `check` throws, and removes the expired rows of its table.
    func insertExpiring(
        _ place: String, _ arguments: StatementArguments, lifetime: Int64,
        _ check: @escaping @Sendable (WriteTransaction) throws -> Void = { _ in }
    ) async throws {
        let now = now().seconds
        let table = place.prefix { $0 != "(" }
        let marks = Array(repeating: "?", count: place.split(separator: ",").count).joined(separator: ", ")
        try await writer.perform { transaction in
            try check(transaction)
            try transaction.execute("DELETE FROM \(table) WHERE expires <= ?", [now])
            try transaction.execute("INSERT INTO \(place) VALUES (\(marks))", arguments + [now + lifetime])
        }
    }
}
