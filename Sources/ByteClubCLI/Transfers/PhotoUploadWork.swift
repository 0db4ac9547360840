import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes
import Glibc

/// Uploads photos in the daemon: goes on where it was killed, and sends nothing that is there.
struct PhotoUploadWork: BackgroundWork {
    let context: Context
    /// How to reach a server.
    var open: @Sendable (Login, WorkContext) throws -> any Remote
    private let underWay = UploadsUnderWay()

    init(_ context: Context) {
        self.context = context
        let pieces = UploadPieces()
        open = { try CoreAPIv1Remote.background($0, $1, pieces: pieces) }
    }

    func run(_ payload: [UInt8], _ work: WorkContext) async throws -> BackgroundResult {
        try await BackgroundFailure.telling {
            let order = try PhotoUploadOrder(payload: payload)
            let login = try context.login(for: order.server)
            let sender = PhotoSender(remote: try open(login, work), folder: try RemotePath(order.folder))
            let files = TransferFiles(work.id, context)
            let content = try await Self.content(order, files)
            let size = try LocalFile.size(content)
            let start = try position(order, content, sender, login, work)
            let folder = UploadsUnderWay.Folder(server: login.server.origin, path: sender.folder.key)
            let photo = try await underWay.upload(size, to: folder) { known in
                // To have the copy made and to wait for others takes its time.
                try order.checkState()
                return try await sender.send(order.file, order.state, content, &known) { size in
                    work.report(bytes: start?.offset ?? 0, total: size)
                    return UploadResumption(from: start) { position in
                        // Without it more is sent again after a kill, and nothing is wrong.
                        if let position { try? work.save(checkpoint: JSON.line(position)) }
                    }
                } progress: {
                    work.report(bytes: $0.completed, total: $0.total, inFlight: $0.inFlight)
                }
            }
            work.report(bytes: photo.bytes, total: photo.bytes)
            files.remove()
            return BackgroundResult(bytes: Array(photo.path.string.utf8))
        }
    }

    func discard(_ id: BackgroundTask.ID, _: [UInt8], checkpoint _: [UInt8]?) async {
        TransferFiles(id, context).remove()
    }

    /// The file with the bytes to send: the photo itself, or a changed copy, which is made once.
    private static func content(_ order: PhotoUploadOrder, _ files: TransferFiles) async throws -> String {
        try order.checkState()
        if order.change.isNone {
            _ = try await PhotoFile.check(order.file)
            return order.file
        }
        if LocalFile.exists(files.changed) { return files.changed }
        _ = try await PhotoFile.check(order.file)
        try files.prepare()
        let temporary = LocalFile.temporaryName(beside: files.changed)
        defer { unsafe unlink(temporary) }
        try await order.change.apply(to: order.file, writing: temporary)
        try LocalFile.sync(temporary)
        try LocalFile.settle(temporary, at: files.changed, replacing: true)
        return files.changed
    }

    /// Where to go on: where this work was, else where an upload by a command that was interrupted is, which is taken
    /// over.
    private func position(
        _ order: PhotoUploadOrder, _ content: String, _ sender: PhotoSender, _ login: Login, _ work: WorkContext
    ) throws -> UploadPosition? {
        if let checkpoint = work.checkpoint { return try? JSONReader.read(UploadPosition.self, from: checkpoint) }
        guard content == order.file else { return nil }
        let record = try UploadRecord(of: order.file, to: sender.folder, on: login.server, context)
        guard let position = record.position else { return nil }
        try work.save(checkpoint: JSON.line(position))
        record.remove()
        return position
    }
}
