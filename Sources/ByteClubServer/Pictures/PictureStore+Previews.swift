import ByteClubCore
import ByteClubMedia
import NIOPosix

/// Previews: pictures for pages in some sizes, all of which are made together.
extension PictureStore {
    /// The boxes in pixels in which previews fit, the smallest first.
    static let sizes = [256, 512, 1024, 2048, 4096]
    /// Raised with every change after which a photo that was refused may have previews.
    private static let previewVersion = 1

    /// The preview of a content that fits in a box of one of ``sizes``; a smaller one when the photo is smaller.
    ///
    /// - Throws: As ``makePreviews(of:syncing:for:source:)``.
    func preview(
        of hash: ContentHash, size: Int, for requester: Requester,
        source: @escaping @Sendable () async throws -> StoredContent
    ) async throws -> FileBlob {
        try await makePreviews(of: hash, for: requester, source: source)
        let picture = try await NIOThreadPool.singleton.runIfActive {
            Self.sizes.reversed().lazy.filter { $0 <= size }.compactMap { cache.blob(Self.name(hash, $0)) }.first
        }
        guard let picture else { throw StorageError(.full, "no space for previews") }
        return picture
    }

    /// Makes the previews of a content that are not there yet.
    ///
    /// - Throws: As ``picture(_:by:refusal:for:limit:source:known:make:)``; ``StorageError`` when there is no room.
    func makePreviews(
        of hash: ContentHash, syncing: ThumbnailCache.Syncing = .now, for requester: Requester,
        source: @escaping @Sendable () async throws -> StoredContent
    ) async throws {
        let refusal = "\(hash)-pictures.refused-\(Self.previewVersion)"
        try await picture("\(hash)", by: previews, refusal: refusal, for: requester, source: source) {
            cache.blob(Self.name(hash, Self.sizes[0])).map { _ in }
        } make: { file in
            try store(try makers.previews(file, Self.sizes), of: hash, syncing)
        }
    }

    /// Makes previews that no request waits for, as ``makePreviews(of:syncing:for:source:)``, unless a process has ended while it
    /// made them; a crash of the machine before the next ``settle()`` may lose them.
    func makePreviewsAhead(
        of hash: ContentHash, for requester: Requester, source: @escaping @Sendable () async throws -> StoredContent
    ) async throws {
        let mark = "\(hash)-trying"
        let isTried = try await NIOThreadPool.singleton.runIfActive {
            if cache.read(mark) != nil { return true }
            cache.store([UInt8(ascii: "1")], as: mark, .never)
            return false
        }
        if isTried { return }
        defer { cache.remove(mark) }
        try await makePreviews(of: hash, syncing: .later, for: requester, source: source)
    }

    /// Syncs the files that ``makePreviewsAhead(of:for:source:)`` has stored.
    func settle() async throws { try await NIOThreadPool.singleton.runIfActive { cache.settle() } }

    /// The size of a content's previews in bytes; blocks for the file system's answer.
    func previewBytes(of hash: ContentHash) -> Int64 {
        Self.sizes.reduce(0) { $0 + (cache.blob(Self.name(hash, $1))?.length ?? 0) }
    }

    /// The bytes of the smallest preview of a content; nil when it is not there.
    ///
    /// Blocks.
    func smallestPreview(of hash: ContentHash) -> [UInt8]? { cache.read(Self.name(hash, Self.sizes[0])) }

    /// Stores previews, except each that is no larger than the next smaller one.
    private func store(_ made: [Int: [UInt8]], of hash: ContentHash, _ syncing: ThumbnailCache.Syncing) throws {
        // The smallest is stored last: where it is, all are, also after a crash of the machine. It may itself be lost
        // then, since all can be made again.
        for (size, smaller) in zip(Self.sizes, [nil] + Self.sizes).reversed() {
            guard let bytes = made[size], smaller.flatMap({ made[$0] }) != bytes else { continue }
            if smaller == nil, syncing == .now { cache.syncFolder(of: Self.name(hash, size)) }
            guard cache.store(bytes, as: Self.name(hash, size), syncing) else {
                throw StorageError(.full, "no space for previews")
            }
        }
    }

    /// The smallest preview that is there and at least 1.4 times as large as a thumbnail, which makes one as sharp as the
    /// photo does; nil when only previews that may be smaller than their boxes are large enough.
    ///
    /// Blocks.
    func preview(forThumbnailOf hash: ContentHash, _ size: ThumbnailSize) -> FileBlob? {
        let needed = max(size.width, size.height) * 7 / 5
        guard let (box, larger) = zip(Self.sizes, Self.sizes.dropFirst()).first(where: { $0.0 >= needed }) else {
            return nil
        }
        // The largest preview that is there may be only as large as the photo.
        return cache.blob(Self.name(hash, larger)) == nil ? nil : cache.blob(Self.name(hash, box))
    }

    private static func name(_ hash: ContentHash, _ size: Int) -> String { "\(hash)-\(size).jpg" }
}

extension PictureStore {
    /// The longest photo in bytes that has a thumbnail.
    static let thumbnailSourceLimit: Int64 = 20 << 20

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
        ) { () async throws -> StoredContent in
            let smaller = try await NIOThreadPool.singleton.runIfActive { preview(forThumbnailOf: hash, size) }
            if let smaller { return .blob(smaller) }
            return try await source()
        } known: {
            cache.read(name)
        } make: { (file: String) throws -> [UInt8] in
            let bytes = try makers.thumbnail(file, size, format)
            // On a full disk the next request makes it again.
            cache.store(bytes, as: name)
            return bytes
        }
    }
}
