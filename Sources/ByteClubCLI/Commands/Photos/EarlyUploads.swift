import ByteClubCore

/// Uploads of small photos that begin before their turn, so that the server has several to store at once.
///
/// One begins early when it is small, so that on a fast line it is finished after Ctrl-C, and when nothing can depend on
/// those before it: its folder has no photo of its length, and no other one under way has its length or its
/// name. The first for which that is not so waits for its turn, and all behind it.
struct EarlyUploads {
    /// An upload that has come to its end.
    struct Sent: Sendable {
        let photo: FinishedPhoto
        let uploaded: UploadedPhoto
        /// What is known of photos of this length in its folder.
        let known: KnownPhotos?
    }

    private let photos: [ChosenPhoto]
    private let sizes: [Int64?]
    private let send: @Sendable (ChosenPhoto, TransferTurn) async throws -> Sent
    /// The first photo that has not begun.
    private var next = 0
    private var transfers: EarlyTransfers<Sent>

    /// Begins none yet, and later not more than `width` at once; `send` uploads one photo.
    init(
        _ photos: [ChosenPhoto], sizes: [Int64?], width: Int,
        send: @escaping @Sendable (ChosenPhoto, TransferTurn) async throws -> Sent
    ) {
        (self.photos, self.sizes, self.send) = (photos, sizes, send)
        transfers = EarlyTransfers(width: width)
    }

    /// Begins what may begin, from the photo whose turn it is.
    ///
    /// - Parameters:
    ///   - index: The photo whose turn it is.
    ///   - base: The folder of the photos that lie in no folder.
    ///   - known: What each folder of the server has, by its key.
    ///   - ask: Asks what a folder has.
    mutating func begin(
        from index: Int, to base: RemotePath, _ known: inout [PathKey: KnownPhotos],
        ask: (RemotePath) async throws -> KnownPhotos
    ) async {
        next = max(next, index)
        while next < photos.count, transfers.hasRoom {
            let (photo, send) = (photos[next], send)
            guard let size = sizes[next], size <= EarlyTransfers<Sent>.largest,
                let folder = try? photo.folder(in: base),
                let key = (try? folder.appending(PhotoFile.serverName(of: photo.file)))?.key.string
            else { return }
            // The one whose turn it is asks for its folder itself, and tells people where that fails.
            if known[folder.key] == nil, next > index { known[folder.key] = try? await ask(folder) }
            guard known[folder.key]?.hasOne(of: size) == false,
                !transfers.contains(where: { $0.size == size || $0.key == key })
            else { return }
            transfers.begin(next, size: size, key: key) { try await send(photo, $0) }
            next += 1
        }
    }

    /// The upload of the photo whose turn it is; nil when it has not begun.
    mutating func take(_ index: Int) -> EarlyTransfers<Sent>.Transfer? { transfers.take(index) }

    /// Learns that the next photo was sent after so many seconds of waiting for it.
    mutating func learn(_ bytes: Int64, in seconds: Double) { transfers.learn(bytes, in: seconds) }

    /// Whether the upload of a photo has begun.
    func hasBegun(_ index: Int) -> Bool { transfers.hasBegun(index) }

    /// Cancels all that is under way, and gives what has come to its end nevertheless, in the order of the photos.
    mutating func cancel() async -> [Sent] { await transfers.cancel() }
}
