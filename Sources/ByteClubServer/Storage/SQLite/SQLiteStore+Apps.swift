import ByteClubCore
import GRDB
import Synchronization

extension SQLiteStore {
    /// The columns that ``app(_:)-(Row)`` reads.
    static let appColumns = "key, secret, name, redirects"

    func publicURL() async throws -> String? {
        try await query { try $0.meta(Schema.Meta.publicURL) }
    }

    func setPublicURL(_ url: String) async throws {
        if try await publicURL() == url { return }
        try await writer.perform { try $0.setMeta(Schema.Meta.publicURL, to: url) }
    }

    var clubName: String? { knownClubName.withLock { $0 } }

    func setClubName(_ name: String?) async throws {
        try await writer.perform { try $0.setMeta(Schema.Meta.clubName, to: name) }
        try readClubName()
    }

    /// Reads the club's name from the database.
    func readClubName() throws {
        // Under the lock, so that of two names that are stored at once the later one is shown.
        try knownClubName.withLock { known in
            known = try pool.read { try $0.meta(Schema.Meta.clubName) }
        }
    }

    func addApp(name: String, redirects: [String]) async throws -> App {
        let app = App(key: Secret.text(bytes: 8), secret: Secret.text(bytes: 16), name: name, redirects: redirects)
        let now = now().seconds
        try await writer.perform { transaction in
            _ = try transaction.execute(
                "INSERT INTO app(\(Self.appColumns), created) VALUES (?, ?, ?, ?, ?)",
                [app.key, app.secret, app.name, redirects.joined(separator: "\n"), now])
        }
        return app
    }

    func apps() async throws -> [App] {
        try await query { try $0.rows("SELECT \(Self.appColumns) FROM app ORDER BY name, key", [], Self.app) }
    }

    func removeApp(key: String) async throws -> Bool {
        defer { memberCache.invalidate() }
        return try await writer.perform { transaction in
            let count = try transaction.execute("DELETE FROM app WHERE key = ?", [key])
            guard count > 0 else { return false }
            for table in ["device", "request_token", "grant_code"] {
                try transaction.execute("DELETE FROM \(table) WHERE app = ?", [key])
            }
            try Self.countAccountChange(in: transaction)
            return true
        }
    }

    func app(_ key: String) async throws -> App? {
        if key == App.byteclub.key { return .byteclub }
        return try await query { try $0.firstRow("SELECT \(Self.appColumns) FROM app WHERE key = ?", [key], Self.app) }
    }

    /// The app in a row of ``appColumns``.
    static func app(_ row: Row) -> App {
        let redirects: String = row[3]
        return App(
            key: row[0], secret: row[1], name: row[2], redirects: redirects.split(separator: "\n").map(String.init))
    }
}
