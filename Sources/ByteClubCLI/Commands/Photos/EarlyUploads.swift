import ByteClubCore
import Synchronization

/// Uploads of small photos that begin before their turn, so that the server has several to store at once.
///
/// One begins early when nothing can depend on those before it: the server has no photo of its length, and no other one
/// under way has its length or its name. The first for which that is not so waits for its turn, and all behind it.
struct EarlyUploads {
    /// An upload that has come to its end.
    struct Sent: Sendable {
        let photo: FinishedPhoto
        let uploaded: UploadedPhoto
        /// What is known of photos of this length.
        let known: KnownPhotos?
    }

    /// An upload under way.
    struct Upload: Sendable {
        let size: Int64
        let key: PathKey
        let turn: UploadTurn
        let task: Task<Sent, any Error>

        /// What became of it; when nobody waits any more, it is cancelled.
        func sent() async throws -> Sent {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// Photos up to this length go in one request.
    private static let largest: Int64 = 8 << 20
    /// While so many bytes are under way, no further upload begins: after Ctrl-C all of them are finished.
    private static let mostBytes: Int64 = 12 << 20

    private let files: [String]
    private let sizes: [Int64?]
    /// How many may be under way.
    private let width: Int
    private let send: @Sendable (_ file: String, UploadTurn) async throws -> Sent
    /// The first file that has not begun.
    private var next = 0
    private var underWay: [Int: Upload] = [:]

    /// Begins none yet; `send` uploads one file.
    init(
        _ files: [String], sizes: [Int64?], width: Int,
        send: @escaping @Sendable (_ file: String, UploadTurn) async throws -> Sent
    ) {
        (self.files, self.sizes, self.width, self.send) = (files, sizes, width, send)
    }

    /// Begins what may begin, from the file on whose turn it is.
    mutating func begin(from index: Int, to folder: RemotePath, _ known: KnownPhotos?) {
        next = max(next, index)
        guard let known, width > 1 else { return }
        while next < files.count, underWay.count < width, bytes < Self.mostBytes {
            let file = files[next]
            guard let size = sizes[next], size <= Self.largest, !known.hasOne(of: size),
                let key = (try? folder.appending(PhotoFile.serverName(of: file)))?.key,
                !underWay.values.contains(where: { $0.size == size || $0.key == key })
            else { return }
            let (turn, send) = (UploadTurn(), send)
            underWay[next] = Upload(size: size, key: key, turn: turn, task: Task { try await send(file, turn) })
            next += 1
        }
    }

    /// The bytes of all uploads under way.
    private var bytes: Int64 { underWay.values.reduce(0) { $0 + $1.size } }

    /// The upload of the file whose turn it is; nil when it has not begun.
    mutating func take(_ index: Int) -> Upload? { underWay.removeValue(forKey: index) }

    /// Whether the upload of a file has begun.
    func hasBegun(_ index: Int) -> Bool { underWay[index] != nil }

    /// Cancels all that is under way, and gives what has come to its end nevertheless, in the order of the files.
    mutating func cancel() async -> [Sent] {
        let uploads = underWay.sorted { $0.key < $1.key }.map(\.value)
        underWay = [:]
        for upload in uploads { upload.task.cancel() }
        var sent: [Sent] = []
        for upload in uploads {
            if let one = try? await upload.task.value { sent.append(one) }
        }
        return sent
    }
}

/// Keeps back what is told of an upload until it is its turn.
final class UploadTurn: Sendable {
    /// Who is told.
    struct Listener: Sendable {
        var begin: @Sendable () -> Void
        var progress: @Sendable (TransferProgress) -> Void
    }

    private struct State {
        var hasBegun = false
        var last: TransferProgress?
        var listener: Listener?
    }

    private let state = Mutex(State())

    /// Says that bytes are about to be sent.
    func begin() {
        state.withLock { state in
            state.hasBegun = true
            state.listener?.begin()
        }
    }

    /// Takes how far it is.
    func report(_ progress: TransferProgress) {
        state.withLock { state in
            state.last = progress
            state.listener?.progress(progress)
        }
    }

    /// Tells somebody what was kept back, and from now on at once.
    func come(_ listener: Listener) {
        state.withLock { state in
            state.listener = listener
            if state.hasBegun { listener.begin() }
            if let last = state.last { listener.progress(last) }
        }
    }
}
