import ByteClubCore

extension SyncError {
    /// Converts any error to a ``SyncError``.
    static func wrapping(_ error: any Error) -> SyncError {
        switch error {
        case let error as SyncError: error
        case let error as RemoteError where error.code == .cancelled: SyncError(.cancelled, "cancelled")
        case let error as RemoteError: SyncError(.remote(error), error.message)
        case is CancellationError: SyncError(.cancelled, "cancelled")
        case let error as FileError: SyncError(.io, error.description)
        default: SyncError(.io, "\(error)")
        }
    }
}
