import ByteClubCore
import ByteClubMedia
import NIOPosix

extension PictureStore {
    /// The longest photo in bytes that has a thumbnail.
    static let thumbnailSourceLimit: Int64 = 20 << 20
    /// Goes up with every change of the copies' contents.
    private static let copyVersion = 1
    /// The largest photo that is copied without its place, in bytes.
    private static let copyLimit: Int64 = 256 << 20

    /// The thumbnail of a content.
    ///
    /// - Throws: As ``picture(_:by:refusal:for:limit:source:known:make:)``.
    func thumbnail(
        of hash: ContentHash, size: ThumbnailSize, format: ThumbnailImageFormat, for requester: Requester,
        source: @escaping @Sendable () async throws -> StoredContent
    ) async throws -> [UInt8] {
        let name = "\(hash)-\(size.rawValue).\(format.rawValue)"
        return try await picture(
            name, by: thumbnails, refusal: "\(name).refused-\(makers.thumbnailVersion)", for: requester,
            limit: Self.thumbnailSourceLimit
        ) {
            let preview = try await NIOThreadPool.singleton.runIfActive { preview(forThumbnailOf: hash, size) }
            return if let preview { .blob(preview) } else { try await source() }
        } known: {
            cache.read(name)
        } make: { file in
            let bytes = try makers.thumbnail(file, size, format)
            // On a full disk the next request makes it again.
            cache.store(bytes, as: name)
            return bytes
        }
    }

    /// The content of a file that people without an account may have, as its ``PlacelessForm`` defines it: the file
    /// itself, or a copy that is made once.
    ///
    /// - Throws: ``APIError`` 415 when they may have none, or the photo cannot be copied, 429 or 503 when too many
    ///   requests wait for a copy.
    func shareable(_ entry: FolderEntry, _ content: StoredContent, for requester: Requester) async throws -> StoredContent {
        guard let hash = entry.contentHash else { return content }
        let name = "\(hash)-share-\(Self.copyVersion).jpg"
        if let copy = try await NIOThreadPool.singleton.runIfActive({ cache.blob(name) }) { return .blob(copy) }
        switch try await PlacelessForm(of: entry, content) {
        case .itself: return content
        case .none: throw PlacelessForm.refusal
        case .copy: break
        }
        guard entry.bytes <= Self.copyLimit else {
            throw APIError(415, "the photo is too large to remove its location")
        }
        let refusal = "\(hash)-share.refused-\(Self.copyVersion)"
        return .blob(
            try await picture(name, by: copies, refusal: refusal, for: requester) {
                content
            } known: {
                cache.blob(name)
            } make: { file in
                do {
                    try cache.make(name) { try ShareCopy.write(file: file, to: $0, keepsDate: true) }
                } catch let error as MediaError where error.code != .io {
                    throw APIError(415, "the location cannot be removed from the photo: \(error.message)")
                }
                guard let copy = cache.blob(name) else {
                    throw StorageError(.full, "no space for a copy of a photo")
                }
                return copy
            })
    }
}
