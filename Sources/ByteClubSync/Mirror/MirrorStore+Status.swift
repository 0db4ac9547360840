import ByteClubCore
import GRDB

extension MirrorStore {
    /// The deletions that the guard holds.
    func heldDeletions() throws -> [SyncStatus.HeldDeletion] {
        try reading { db in
            try Row.fetchAll(db, sql: "SELECT path, side FROM held ORDER BY path").map {
                SyncStatus.HeldDeletion(path: $0[0] as String? ?? "", side: $0[1] as String? ?? "")
            }
        }
    }

    /// Whether an error says that the database's file is no sound database.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT].contains(error.resultCode)
            || error.resultCode == .SQLITE_ERROR && error.message?.contains("already exists") == true
    }

    /// Counts and lists for people.
    static func status(at path: String) throws -> SyncStatus {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let store = MirrorStore(reading: queue)
        var status = SyncStatus()
        status.isKnown = true
        try queue.read { db in
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT coalesce(sum(s_kind = 0), 0), coalesce(sum(s_kind = 1), 0), coalesce(sum(s_size), 0),
                      coalesce(sum(dirty), 0) FROM node
                    """)
            status.files = Int(row?[0] as Int64? ?? 0)
            status.folders = Int(row?[1] as Int64? ?? 0)
            status.bytes = row?[2] as Int64? ?? 0
            status.pending = Int(row?[3] as Int64? ?? 0)
            status.lastSync = try meta(db, .lastSync).flatMap { Int64($0) }
            status.conflicts = try Row.fetchAll(db, sql: "SELECT path, copy, at FROM conflict ORDER BY at DESC, copy")
                .map {
                    SyncStatus.Conflict(
                        path: $0[0] as String? ?? "", copy: $0[1] as String? ?? "", at: $0[2] as Int64? ?? 0)
                }
        }
        status.problems = try store.problems().values.joined().sorted { $0.path < $1.path }
            .map { SyncStatus.Problem(path: $0.path, message: $0.message) }
        status.held = try store.heldDeletions()
        return status
    }

    private init(reading queue: DatabaseQueue) { self.queue = queue }
}
