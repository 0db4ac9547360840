import ByteClubCore
import FoundationEssentials
import GRDB

/// Content that is about to be the same on both sides, so that an engine that was stopped before it could say so
/// knows its own work again and does not take it for somebody's edit.
struct Expectation: Sendable {
    let key: PathKey
    /// The path on disk.
    let path: String
    let hash: ContentHash
    let size: Int64
    /// The server's version that is received; nil when content is sent and the server makes the version.
    let revision: Revision?
}

extension MirrorStore {
    static func expect(_ db: Database, _ expectations: [Expectation]) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO expected(key, hash, path, size, revision, namespace) VALUES(?, ?, ?, ?, ?, ?)")
        for expectation in expectations {
            try statement.execute(arguments: [
                expectation.key.string, Data(expectation.hash.bytes), expectation.path, expectation.size,
                expectation.revision?.number, expectation.revision.map { Int64($0.namespace) },
            ])
        }
    }

    static func stopExpecting(_ db: Database, _ key: PathKey) throws {
        try db.cachedStatement(sql: "DELETE FROM expected WHERE key = ?").execute(arguments: [key.string])
    }

    func expectations() throws -> [Expectation] {
        try reading { db in
            try Row.fetchAll(
                db.cachedStatement(sql: "SELECT key, hash, path, size, revision, namespace FROM expected")
            ).compactMap { row in
                guard let hash = (row[1] as Data?).flatMap({ ContentHash(bytes: Array($0)) }) else { return nil }
                let revision = (row[4] as Int64?).map {
                    Revision(number: $0, namespace: UInt32(truncatingIfNeeded: row[5] as Int64? ?? 0))
                }
                return Expectation(
                    key: PathKey(folded: row[0] as String? ?? "/"), path: row[2] as String? ?? "", hash: hash,
                    size: row[3] as Int64? ?? 0, revision: revision)
            }
        }
    }
}
