import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes
import Glibc

/// Uploads photos in the daemon: resumes after a crash, and skips photos that the server has.
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
                // The file may have changed during the copy and the wait for other uploads.
                try order.checkState()
                return try await sender.send(order.file, order.state, content, &known) { size in
                    work.report(bytes: start?.offset ?? 0, total: size)
                    return UploadResumption(from: start) { position in
                        // Without it a restart repeats more of the upload.
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

    /// The file to send: the photo itself, or a changed copy, which is made once.
    private static func content(_ order: PhotoUploadOrder, _ files: TransferFiles) async throws -> String {
        try order.checkState()
        if order.change.isNone {
            _ = try await PhotoFile.check(order.file)
            return order.file
        }
        if LocalFile.exists(files.changed) { return files.changed }
        _ = try await PhotoFile.check(order.file)
        try files.prepare()
        let copy = try OutputFile(files.changed, isForced: true)
        try await copy.write { try await order.change.apply(to: order.file, writing: $0) }
        return files.changed
    }

    /// The position to resume from: this work's own, else that of an interrupted upload by a command, which it takes
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

extension CoreAPIv1Remote {
    /// A club's server for a work of the daemon, within the daemon's rate; `pieces` is the size of upload pieces that
    /// earlier works have learned.
    static func background(
        _ login: Login, _ work: WorkContext, pieces: UploadPieces = UploadPieces()
    ) throws -> CoreAPIv1Remote {
        let configuration = sessionConfiguration(
            token: login.token, certificateAuthorityFile: login.certificateAuthorityFile,
            pinnedKeys: login.pinnedKeys)
        var remote = try CoreAPIv1Remote(
            origin: login.server.origin, api: work.session(configuration, name: "photo"),
            allowsInsecureHTTP: login.allowsInsecureHTTP)
        remote.rateLimit = work.options.rateLimit
        remote.pieces = pieces
        return remote
    }
}

/// The durations of a batch's transfers, as a decaying average.
///
/// It reads no clock: times are parameters.
struct LinePace: Sendable {
    /// The rate in bytes a second below which a line is slow.
    private static let slow = Double(1 << 20)
    private static let usual: Int64 = 12 << 20

    private var bytes = 0.0
    private var seconds = 0.0

    /// Adds a transfer of so many bytes in so many seconds.
    mutating func take(_ count: Int64, in time: Double) {
        bytes = bytes * 0.8 + Double(count)
        seconds = seconds * 0.8 + max(0, time)
    }

    /// The most bytes under way: 12 MiB, on a slow line a second's worth.
    var mostBytes: Int64 {
        guard seconds > 0, bytes / seconds < Self.slow else { return Self.usual }
        return Int64(bytes / seconds)
    }
}
