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
            var new = NewMember(name: name, token: token, uid: member.uid, role: member.role)
            guard let signed else { return new }
            let app = try transaction.database.firstRow(
                "SELECT \(Self.appColumns) FROM app WHERE name = ?", [App.oauth1Name], Self.app)
            guard let app, let secret = app.secret else {
                throw StorageError(.badMember, "the app '\(App.oauth1Name)' was removed, so it gets no keys")
            }
            try Self.insertDevice(
                Secret.hash(signed.token), secret: signed.secret, member: member.uid, app: app.key, name: "",
                now: now, in: transaction)
            new.oauth1 = OAuth1Credentials(
                consumerKey: app.key, consumerSecret: secret, token: signed.token, tokenSecret: signed.secret,
                member: member)
            return new
        }
        memberCache.invalidate()
        return added
    }

    func members() async throws -> [Member] {
        try await query { database in
            try database.rows("SELECT \(Self.memberColumns) FROM member m ORDER BY m.uid", [], Self.member)
        }
    }

    func removeMember(name: String, evenTheLast: Bool) async throws {
        try await changeMember(name, orLeavingNobody: evenTheLast) { uid, transaction in
            try transaction.execute("UPDATE member SET disabled = 1, password = NULL WHERE uid = ?", [uid])
            for table in ["device", "request_token", "grant_code", "web_session"] {
                try transaction.execute("DELETE FROM \(table) WHERE member = ?", [uid])
            }
            try Self.withdrawInvitations(of: uid, in: transaction)
            try Self.withdrawLinks(of: uid, in: transaction)
        }
    }

    func setRole(_ role: Role, ofMember name: String) async throws {
        try await changeMember(name) { uid, transaction in
            try transaction.execute("UPDATE member SET role = ? WHERE uid = ?", [role.rawValue, uid])
            if role < .owner { try Self.withdrawInvitations(of: uid, in: transaction) }
            if role == .owner { try Self.withdrawInvitations(of: Invitation.byNobody, in: transaction) }
            if role < .editor { try Self.withdrawLinks(of: uid, .share, in: transaction) }
        }
    }

    func setPassword(
        _ hash: PasswordHash, ofMember name: String, replacing known: ReplacedPassword, shuttingOutDevices: Bool
    ) async throws -> Bool {
        try await changeMember(name) { uid, transaction in
            if case .exactly(_, let owner?) = known, try !Self.isStill(owner, in: transaction) { return false }
            let count =
                switch known {
                case .any:
                    try transaction.execute("UPDATE member SET password = ? WHERE uid = ?", [hash.text, uid])
                case .exactly(let known, _):
                    try transaction.execute(
                        "UPDATE member SET password = ? WHERE uid = ? AND password IS ?", [hash.text, uid, known?.text])
                }
            if count == 0 { return false }
            // Sign-ins that have not fetched their tokens yet are withdrawn, too.
            let tables = ["web_session"] + (shuttingOutDevices ? ["device", "request_token", "grant_code"] : [])
            for table in tables { try transaction.execute("DELETE FROM \(table) WHERE member = ?", [uid]) }
            return true
        }
    }

    private static func isStill(_ owner: OwnerState, in transaction: WriteTransaction) throws -> Bool {
        try transaction.database.hasRow(
            "SELECT 1 FROM member WHERE uid = ? AND disabled = 0 AND role = ? AND password IS ?",
            [owner.uid, Role.owner.rawValue, owner.password?.text])
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

    private func changeMember<T: Sendable>(
        _ name: String, orLeavingNobody leavesNobody: Bool = false,
        _ body: @escaping @Sendable (Int64, WriteTransaction) throws -> T
    ) async throws -> T {
        let result = try await writer.perform { transaction in
            let found = try transaction.database.firstRow(
                "SELECT uid, role FROM member WHERE folded = ? AND disabled = 0", [PathKey.fold(name)]
            ) { (uid: $0[0] as Int64, wasOwner: $0[1] as Int == Role.owner.rawValue) }
            guard let found else { throw StorageError.noMember(name) }
            let result = try body(found.uid, transaction)
            if found.wasOwner {
                try Self.checkOwner(afterChangeOf: name, orNobody: leavesNobody, in: transaction)
            }
            try Self.countAccountChange(in: transaction)
            return result
        }
        memberCache.invalidate()
        return result
    }

    /// A club never loses its last owner, unless that one is alone and it was asked for.
    ///
    /// It is looked at in the transaction of the change, so that two owners cannot take the role from each other at
    /// once, from two processes either.
    private static func checkOwner(
        afterChangeOf name: String, orNobody mayBeEmpty: Bool, in transaction: WriteTransaction
    ) throws {
        let left = try transaction.database.rows("SELECT DISTINCT role FROM member WHERE disabled = 0") { row in
            row[0] as Int
        }
        if !left.contains(Role.owner.rawValue), !(mayBeEmpty && left.isEmpty) { throw StorageError.lastOwner(name) }
    }

    /// Members cannot come back by their own invitations, nor can a second person use one for the first owner.
    private static func withdrawInvitations(of uid: Int64, in transaction: WriteTransaction) throws {
        try transaction.execute("DELETE FROM invitation WHERE inviter = ?", [uid])
    }

    /// Adds a member's row.
    static func insertMember(
        _ name: String, role: Role?, password: PasswordHash? = nil, now: APIDate, in transaction: WriteTransaction
    ) throws -> Member {
        let database = transaction.database
        try MemberName.check(
            name, besides: try database.rows("SELECT name FROM member WHERE disabled = 0") { $0[0] as String })
        let role = try role ?? (hasOwner(in: database) ? .editor : .owner)
        try transaction.execute(
            "INSERT INTO member(name, folded, created, role, password) VALUES (?, ?, ?, ?, ?)",
            [name, PathKey.fold(name), now.seconds, role.rawValue, password?.text])
        let uid = database.lastInsertedRowID
        if role == .owner { try withdrawInvitations(of: Invitation.byNobody, in: transaction) }
        try countAccountChange(in: transaction)
        return Member(uid: uid, name: name, created: now, role: role, isDisabled: false)
    }

    /// Whether there is an owner.
    static func hasOwner(in database: Database) throws -> Bool {
        try database.hasRow("SELECT 1 FROM member WHERE disabled = 0 AND role = ?", [Role.owner.rawValue])
    }

    /// Invalidates what this and other processes have cached of members, devices, sessions and links.
    static func countAccountChange(in transaction: WriteTransaction) throws {
        try transaction.execute("UPDATE meta SET value = value + 1 WHERE name = ?", [Schema.Meta.members])
    }

    /// The member in a row of ``memberColumns``.
    static func member(_ row: Row) -> Member {
        Member(
            uid: row[0], name: row[1], created: APIDate(seconds: row[2]), role: Role(rawValue: row[4]) ?? .viewer,
            isDisabled: (row[3] as Int) != 0)
    }

    func standingVersion() async throws -> Int64 {
        try await query { try Self.standingVersion(in: $0) }
    }

    /// How often accounts have changed.
    static func standingVersion(in database: Database) throws -> Int64 {
        try database.meta(Schema.Meta.members) ?? 0
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
        return try database.hasRow("SELECT 1 FROM \(source) WHERE \(condition) AND m.disabled = 0", arguments)
    }
}
