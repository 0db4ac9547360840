import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes
import Glibc

/// Downloads photos in the daemon: goes on where it was killed; a file is there only when it is whole and checked.
struct PhotoDownloadWork: BackgroundWork {
    let context: Context
    /// How to reach a server, with a journal of where the download is.
    var open: @Sendable (Login, WorkContext, _ journal: String) throws -> any Remote = { login, work, journal in
        var remote = try CoreAPIv1Remote.background(login, work)
        remote.downloadJournal = journal
        return remote
    }

    init(_ context: Context) { self.context = context }

    func run(_ payload: [UInt8], _ work: WorkContext) async throws -> BackgroundResult {
        try await BackgroundFailure.telling(of: work.id) {
            let order = try PhotoDownloadOrder(payload: payload)
            let path = try RemotePath(order.path)
            let files = TransferFiles(work.id, context)
            let remote = try open(context.login(for: order.server), work, files.journal)
            let metadata = try await Self.metadata(of: path, remote)
            if try await !Self.holds(order.file, metadata) {
                let file = try OutputFile(order.file, isForced: order.isForced)
                let part = files.part(of: order.file)
                try files.prepare()
                let received = files.earlier?.bytesReceived ?? 0
                work.report(bytes: received, total: metadata.bytes)
                try await Self.fetch(metadata, to: part, file, received: received, remote) {
                    work.report(bytes: $0, total: metadata.bytes)
                }
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

    private static func metadata(of path: RemotePath, _ remote: any Remote) async throws -> Metadata {
        do {
            let metadata = try await remote.metadata(at: path)
            if !metadata.isDeleted, !metadata.isFolder { return metadata }
        } catch {
            guard error.code == .notFound else { throw error }
        }
        throw EntryPath.missing("photo", path.name)
    }

    /// Has all bytes in a file beside the place where they go.
    private static func fetch(
        _ metadata: Metadata, to part: String, _ file: OutputFile, received: Int64, _ remote: any Remote,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws {
        // A daemon that was killed after the last byte left them here.
        if try await holds(part, metadata) { return }
        unsafe unlink(part)
        // The rest of it needs less where something came already.
        let room = try file.room().addingReportingOverflow(received)
        _ = try await PhotoDownload.fetch(
            metadata.path, room.overflow ? .max : room.partialValue, from: remote, to: part
        ) { progress($0.completed) }
    }

    /// Whether a file has a version's bytes.
    private static func holds(_ file: String, _ metadata: Metadata) async throws -> Bool {
        guard let hash = metadata.contentHash, LocalFile.exists(file), try LocalFile.size(file) == metadata.bytes else {
            return false
        }
        return try await BlockingWork.run { try LocalFile.hash(file).hash == hash }
    }
}
