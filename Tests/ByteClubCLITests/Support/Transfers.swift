@testable import ByteClubCLI
@testable import ByteClubHTTP

/// Background transfers as tests make them up.
enum Transfers {
    static let server = TransferServer(address: "http://127.0.0.1:1", allowsInsecureHTTP: false)

    /// One on its way to the server.
    static func upload(
        _ number: UInt64, _ name: String, _ state: BackgroundStatus.State, bytes: Int64 = 0, of total: Int64? = nil,
        rate: Double = 0, failure: BackgroundFailure? = nil
    ) throws -> BackgroundStatus {
        let order = PhotoUploadOrder(
            server: server, folder: "/byteclub/photos", file: "/home/ada/" + name,
            state: FileState(size: 1, inode: 1, seconds: 1, nanoseconds: 1), change: PhotoChange())
        var status = BackgroundStatus(
            BackgroundTask.ID(number: number), Context.photoTransfers, try order.request(rateLimit: nil), at: 1)
        (status.state, status.bytes, status.total) = (state, bytes, total)
        (status.bytesPerSecond, status.failure) = (rate, failure)
        return status
    }

    /// A context for a work; checkpoints and reports are discarded by default.
    static func work(
        _ number: UInt64 = 7, checkpoint: [UInt8]? = nil,
        save: @escaping @Sendable ([UInt8]) -> Void = { _ in },
        report: @escaping @Sendable (Int64, Int64?) -> Void = { _, _ in }
    ) -> WorkContext {
        WorkContext(
            id: BackgroundTask.ID(number: number), options: BackgroundOptions(), checkpoint: checkpoint,
            saveCheckpoint: { save($0) }, reportProgress: { bytes, total, _ in report(bytes, total) },
            openSession: { (configuration, name) throws(TransferError) in
                try Session(configuration: configuration, name: name)
            }, secretFields: { throw CancellationError() })
    }
}
