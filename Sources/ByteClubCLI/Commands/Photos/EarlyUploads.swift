import ByteClubCore

/// Uploads of small photos that begin before their turn, so that the server has several to store at once.
///
/// One begins early when it is small, so that on a fast line it is finished after Ctrl-C, and when nothing can depend on
/// those before it: the server has no photo of its length, and no other one under way has its length or its
/// name. The first for which that is not so waits for its turn, and all behind it.
struct EarlyUploads {
    /// An upload that has come to its end.
    struct Sent: Sendable {
        let photo: FinishedPhoto
        let uploaded: UploadedPhoto
        /// What is known of photos of this length.
        let known: KnownPhotos?
    }

    private let files: [String]
    private let sizes: [Int64?]
    private let send: @Sendable (_ file: String, TransferTurn) async throws -> Sent
    /// The first file that has not begun.
    private var next = 0
    private var transfers: EarlyTransfers<Sent>

    /// Begins none yet, and later not more than `width` at once; `send` uploads one file.
    init(
        _ files: [String], sizes: [Int64?], width: Int,
        send: @escaping @Sendable (_ file: String, TransferTurn) async throws -> Sent
    ) {
        (self.files, self.sizes, self.send) = (files, sizes, send)
        transfers = EarlyTransfers(width: width)
    }

    /// Begins what may begin, from the file on whose turn it is.
    mutating func begin(from index: Int, to folder: RemotePath, _ known: KnownPhotos?) {
        next = max(next, index)
        guard let known else { return }
        while next < files.count, transfers.hasRoom {
            let (file, send) = (files[next], send)
            guard let size = sizes[next], size <= EarlyTransfers<Sent>.largest, !known.hasOne(of: size),
                let key = (try? folder.appending(PhotoFile.serverName(of: file)))?.key.string,
                !transfers.contains(where: { $0.size == size || $0.key == key })
            else { return }
            transfers.begin(next, size: size, key: key) { try await send(file, $0) }
            next += 1
        }
    }

    /// The upload of the file whose turn it is; nil when it has not begun.
    mutating func take(_ index: Int) -> EarlyTransfers<Sent>.Transfer? { transfers.take(index) }

    /// Learns that the next photo was sent after so many seconds of waiting for it.
    mutating func learn(_ bytes: Int64, in seconds: Double) { transfers.learn(bytes, in: seconds) }

    /// Whether the upload of a file has begun.
    func hasBegun(_ index: Int) -> Bool { transfers.hasBegun(index) }

    /// Cancels all that is under way, and gives what has come to its end nevertheless, in the order of the files.
    mutating func cancel() async -> [Sent] { await transfers.cancel() }
}
