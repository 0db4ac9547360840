import GRDB
import Glibc

extension StorageError {
    /// The storage's error for one of the database; other errors stay as they are.
    static func translating(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        let reason = error.message ?? "\(error.resultCode)"
        switch error.resultCode.primaryResultCode {
        case .SQLITE_FULL: return StorageError(.full, "the database's disk is full")
        // The database's shared memory and its journal report a full disk as a failed write.
        case .SQLITE_IOERR where errno == ENOSPC || errno == EDQUOT:
            return StorageError(.full, "the database's disk is full")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return StorageError(.damaged, "the database is damaged: \(reason)")
        default: return StorageError(.io, "the database failed: \(reason)")
        }
    }
}
