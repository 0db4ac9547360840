import ByteClubCore
import CLinux
import Glibc

extension SyncConfiguration {
    /// Where the mirror's database is.
    var databasePath: String { stateDirectory + "/" + SQLiteTreeStore.fileName }

    /// The lock file of a running engine; touching it wakes the engine.
    var lockPath: String { stateDirectory + "/" + MirrorLock.fileName }

    /// Makes a running engine read what was changed in its database.
    func nudge() { _ = unsafe utimensat(AT_FDCWD, lockPath, nil, 0) }

    /// Whether an engine runs for the mirror, in any process.
    var isRunning: Bool {
        guard let file = try? FileDescriptor.open(lockPath, O_RDONLY) else { return false }
        guard flock(file.number, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        flock(file.number, LOCK_UN)
        return false
    }

    /// Opens the database; nil when there is none.
    private func store(
        _ open: (String) throws(SyncError) -> SQLiteTreeStore?
    ) throws(SyncError) -> SQLiteTreeStore? {
        let path = databasePath
        if let store = try open(path) { return store }
        guard DatabaseFile.isUnusable(path) else { return nil }
        throw SyncError(
            .database, "the mirror's database '\(path)' is damaged or of another version; the next sync replaces it"
        )
    }

    /// Reads the database, also while an engine has it open; nil when there is none.
    ///
    /// - Throws: ``SyncError``; what `body` throws is wrapped in one.
    func read<Value>(_ body: (SQLiteTreeStore) throws -> Value) throws(SyncError) -> Value? {
        do {
            guard let store = try store(SQLiteTreeStore.reading) else { return nil }
            defer { try? store.close() }
            return try body(store)
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    /// Changes the database durably, also while an engine has it open; nil when there is none.
    ///
    /// - Throws: ``SyncError``; what `body` throws is wrapped in one.
    func change<Value>(_ body: (SQLiteTreeStore) throws -> Value) throws(SyncError) -> Value? {
        do {
            guard let store = try store(SQLiteTreeStore.joining) else { return nil }
            defer { try? store.close() }
            let value = try store.transaction(durably: true) { try body(store) }
            nudge()
            return value
        } catch {
            throw SyncError.wrapping(error)
        }
    }
}
