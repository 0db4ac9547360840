import ByteClubCore
import GRDB

extension SQLiteStore {
    /// The live links at a moment: `l` with its maker `m`, and its entry as it is now, `v`.
    private static let live = """
        FROM link l JOIN member m ON m.uid = l.member JOIN node n ON n.id = l.node
        JOIN version v ON v.revision = n.revision
        WHERE l.expires > :now AND v.kind < 2 AND m.disabled = 0
        AND (l.purpose != \(Link.Purpose.share.rawValue) OR m.role >= \(Role.editor.rawValue))
        """
    /// The columns that ``readLink(_:)`` reads.
    private static let linkColumns =
        "l.id, l.secret, l.purpose, v.path, l.created, l.expires, m.name, l.password, l.keeps_location"

    func link(
        _ purpose: Link.Purpose, to entry: FolderEntry, by member: Int64, _ terms: Link.Terms
    ) async throws -> Link {
        let (now, secret) = (now().seconds, Secret.text(bytes: 16))
        if terms.isEmpty,
            let known = try await query({ try Self.link(purpose, to: entry, by: member, now: now, in: $0) })
        {
            return known
        }
        let expires = now + (terms.lifetime ?? purpose.lifetime)
        return try await writer.perform { transaction in
            let database = transaction.database
            try transaction.execute("DELETE FROM link WHERE expires <= ?", [now])
            if let known = try Self.link(purpose, to: entry, by: member, now: now, in: database) {
                if terms.isEmpty { return known }
                let password = terms.password.map(\.hash) ?? known.password
                try transaction.execute(
                    "UPDATE link SET expires = ?, password = ?, keeps_location = ? WHERE id = ?",
                    [
                        terms.lifetime == nil ? known.expires.seconds : expires, password?.text,
                        terms.keepsLocation ?? known.keepsLocation, known.id,
                    ])
            } else {
                let kept = try database.firstRow(
                    "SELECT count(*), min(expires) FROM link WHERE member = ? AND purpose = ?",
                    [member, purpose.rawValue]
                ) { (count: $0[0] as Int, end: $0[1] as Int64?) }
                if let kept, kept.count >= Link.mostOfMember { throw Link.tooMany(until: kept.end, now: now) }
                try transaction.execute(
                    """
                    INSERT INTO link(
                        secret, purpose, member, node, revision, created, expires, password, keeps_location)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        secret, purpose.rawValue, member, entry.node.number, entry.revision, now, expires,
                        terms.password?.hash?.text, terms.keepsLocation ?? false,
                    ])
            }
            guard let made = try Self.link(purpose, to: entry, by: member, now: now, in: database) else {
                throw StorageError.notFound(entry.path)
            }
            return made
        }
    }

    func link(_ purpose: Link.Purpose, secret: String) async throws -> Link? {
        let now = now().seconds
        return try await query { database in
            try database.firstRow(
                "SELECT \(Self.linkColumns) \(Self.live) AND l.secret = :secret AND l.purpose = :purpose",
                ["now": now, "secret": secret, "purpose": purpose.rawValue], Self.readLink)
        }
    }

    /// The newest link of a member to an entry that is to be given again.
    private static func link(
        _ purpose: Link.Purpose, to entry: FolderEntry, by member: Int64, now: Int64, in database: Database
    ) throws -> Link? {
        try database.firstRow(
            """
            SELECT \(linkColumns) \(live) AND l.node = :node AND l.purpose = :purpose AND l.member = :member
            AND (l.purpose != \(Link.Purpose.media.rawValue) OR (l.revision = :revision AND l.created > :reused))
            ORDER BY l.id DESC
            """,
            [
                "now": now, "node": entry.node.number, "purpose": purpose.rawValue, "member": member,
                "revision": entry.revision, "reused": now - Link.mediaReuse,
            ], readLink)
    }

    func entry(_ purpose: Link.Purpose, secret: String, below: String) async throws -> FolderEntry? {
        let now = now()
        return try await query { database in
            let state = SQLiteFolderState(reading: database)
            let found = try database.firstRow(
                """
                SELECT l.revision, \(SQLiteFolderState.columns) \(Self.live)
                AND l.secret = :secret AND l.purpose = :purpose
                """, ["now": now.seconds, "secret": secret, "purpose": purpose.rawValue]
            ) { row in
                (revision: row[0] as Int64, entry: try SQLiteFolderState.entry(row, at: 1))
            }
            guard let found else { return nil }
            if purpose == .media { return try state.version(found.revision) }
            if below.isEmpty { return found.entry }
            guard let path = try? RemotePath(found.entry.path.string + "/" + below) else { return nil }
            return try SharedFolder(state: state, now: now, author: 0).live(path)
        }
    }

    func links(seenBy member: Member, _ purpose: Link.Purpose?, before: Int64, limit: Int) async throws -> [Link] {
        let now = now().seconds
        let kind = purpose.map { "= \($0.rawValue)" } ?? "!= \(Link.Purpose.copy.rawValue)"
        return try await query { database in
            try database.rows(
                """
                SELECT \(Self.linkColumns) \(Self.live) AND l.purpose \(kind) AND l.id < :before
                AND (:all OR l.member = :member) ORDER BY l.id DESC LIMIT :limit
                """,
                [
                    "now": now, "before": before, "all": member.role == .owner, "member": member.uid, "limit": limit,
                ], Self.readLink)
        }
    }

    func removeLink(_ id: Int64, for member: Member) async throws -> Bool {
        try await revoke(
            "DELETE FROM link WHERE id = ? AND purpose != \(Link.Purpose.copy.rawValue) AND (? OR member = ?)",
            [id, member.role == .owner, member.uid])
    }

    /// Removes all links of a member, or those that only editors may have.
    static func withdrawLinks(of member: Int64, _ purpose: Link.Purpose? = nil, in transaction: WriteTransaction) throws
    {
        try transaction.execute(
            "DELETE FROM link WHERE member = ? AND (? IS NULL OR purpose = ?)",
            [member, purpose?.rawValue, purpose?.rawValue])
    }

    private static func readLink(_ row: Row) throws -> Link {
        guard let purpose = Link.Purpose(rawValue: row[2]) else {
            throw StorageError(.damaged, "the database has a link of an unknown kind")
        }
        let password = row[7] as String?
        let hash = password.flatMap { PasswordHash(text: $0) }
        if password != nil, hash == nil {
            throw StorageError(.damaged, "the database has a link with an unknown kind of password")
        }
        return Link(
            id: row[0], secret: row[1], purpose: purpose, path: try RemotePath(row[3] as String),
            created: APIDate(seconds: row[4]), expires: APIDate(seconds: row[5]), member: row[6], password: hash,
            keepsLocation: row[8])
    }
}
