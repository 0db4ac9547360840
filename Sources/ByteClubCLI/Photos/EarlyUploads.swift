import ByteClubCore

/// Uploads of small photos that start early, so that the server can store several at once.
///
/// A photo starts early when it is small, so that on a fast line it can finish after Ctrl-C, and when it cannot depend
/// on an earlier one: its folder has no photo of the same length, and no running upload has its length or name. The
/// first photo that does not qualify waits for its turn, and so do all after it.
struct EarlyUploads {
    /// An upload that has come to its end.
    struct Sent: Sendable {
        let photo: FinishedPhoto
        let uploaded: UploadedPhoto
        /// Photos of this length that its folder is known to contain.
        let known: KnownPhotos?
    }

    private let photos: [ChosenPhoto]
    private let sizes: [Int64?]
    private let send: @Sendable (ChosenPhoto, TransferTurn) async throws -> Sent
    /// The first photo that has not begun.
    private var next = 0
    /// The uploads that have begun.
    var transfers: EarlyTransfers<Sent>

    /// Starts none yet, and later at most `width` at once; `send` uploads one photo.
    init(
        _ photos: [ChosenPhoto], sizes: [Int64?], width: Int,
        send: @escaping @Sendable (ChosenPhoto, TransferTurn) async throws -> Sent
    ) {
        (self.photos, self.sizes, self.send) = (photos, sizes, send)
        transfers = EarlyTransfers(width: width)
    }

    /// Starts uploads that may run early, from the current photo on.
    ///
    /// `base` is the folder of photos outside of albums; `known` has the contents of folders on the server by their
    /// keys, and `ask` lists one.
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
            // The current photo lists its folder itself, and reports a failure.
            if known[folder.key] == nil, next > index { known[folder.key] = try? await ask(folder) }
            guard known[folder.key]?.hasOne(of: size) == false,
                !transfers.contains(where: { $0.size == size || $0.key == key })
            else { return }
            transfers.begin(next, size: size, key: key) { try await send(photo, $0) }
            next += 1
        }
    }
}
