import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes
import Glibc

/// Downloads photos in the daemon: resumes after a crash, and publishes only complete, verified files.
struct PhotoDownloadWork: BackgroundWork {
    let context: Context
    /// How to reach a server.
    var open: @Sendable (Login, WorkContext) throws -> any Remote = { try CoreAPIv1Remote.background($0, $1) }

    init(_ context: Context) { self.context = context }

    func run(_ payload: [UInt8], _ work: WorkContext) async throws -> BackgroundResult {
        try await BackgroundFailure.telling {
            let order = try PhotoDownloadOrder(payload: payload)
            let path = try RemotePath(order.path)
            let files = TransferFiles(work.id, context)
            let remote = try open(context.login(for: order.server), work)
            let metadata = try await PhotoShow.metadata(of: path, remote)
            if try await !PhotoDownload.holds(order.file, metadata) {
                let file = try OutputFile(order.file, isForced: order.isForced)
                let part = files.part(of: order.file)
                try files.prepare()
                work.report(bytes: files.earlier?.bytesReceived ?? 0, total: metadata.bytes)
                _ = try await PhotoDownload.fetch(
                    metadata.path, known: metadata, to: part, journal: files.journal, beside: file, from: remote
                ) { work.report(bytes: $0.completed, total: metadata.bytes) }
                try LocalFile.complete(part, as: metadata)
                try file.settle(part)
            }
            work.report(bytes: metadata.bytes, total: metadata.bytes)
            files.remove()
            return BackgroundResult(file: order.file)
        }
    }

    func discard(_ id: BackgroundTask.ID, _ payload: [UInt8], checkpoint _: [UInt8]?) async {
        let files = TransferFiles(id, context)
        files.discard()
        if let order = try? PhotoDownloadOrder(payload: payload) { unsafe unlink(files.part(of: order.file)) }
    }
}
