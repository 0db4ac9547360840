import ByteClubCore
import NIOPosix

/// Bounds the folder of pictures: it removes those of contents that are no photo's any more, and the oldest beyond a
/// limit.
struct PictureShelf: Sendable {
    /// The most bytes of pictures; beyond that the oldest are removed, and made again on request.
    static let limit: Int64 = 16 << 30

    let cache: ThumbnailCache
    var limit = Self.limit

    /// The pictures of one content.
    private struct Pictures {
        var bytes: Int64 = 0
        /// When the last one was made, in seconds since 1970.
        var made: Int64 = 0
    }

    /// Removes the pictures of contents that no version of a photo has any more, and the oldest beyond the limit.
    ///
    /// - Returns: How many bytes may be added before the limit.
    /// - Throws: ``StorageError`` when the store cannot tell; `CancellationError`.
    @discardableResult func prune(keepingPhotosOf store: any MediaInfoStore) async throws -> Int64 {
        try await NIOThreadPool.singleton.runIfActive { cache.removeLeftovers(beginning: nil) }
        var kept: [ContentHash: Pictures] = [:]
        for byte in UInt8.min...UInt8.max {
            try Task.checkCancellation()
            let files = try await NIOThreadPool.singleton.runIfActive {
                cache.removeLeftovers(beginning: byte)
                return cache.files(beginning: byte)
            }
            let hashes = Set(files.compactMap { Self.hash(of: $0.name) })
            let gone = Set(try await store.withoutPhotos(Array(hashes)))
            remove(gone, from: files)
            for file in files {
                guard let hash = Self.hash(of: file.name), !gone.contains(hash) else { continue }
                kept[hash, default: Pictures()].bytes += file.bytes
                kept[hash, default: Pictures()].made = max(kept[hash]?.made ?? 0, file.made)
            }
        }
        var total = kept.values.reduce(0) { $0 + $1.bytes }
        guard total > limit else { return limit / 10 * 9 - total }
        var gone: Set<ContentHash> = []
        for (hash, pictures) in kept.sorted(by: { $0.value.made < $1.value.made }) where total > limit / 10 * 9 {
            gone.insert(hash)
            total -= pictures.bytes
        }
        for byte in UInt8.min...UInt8.max {
            try await NIOThreadPool.singleton.runIfActive { [gone] in
                remove(gone, from: cache.files(beginning: byte))
            }
        }
        return limit / 10 * 9 - total
    }

    /// Removes all files of some contents, the smallest picture first: where that exists, all are assumed to exist.
    ///
    /// The folder is not synced: pictures that come back after a crash of the machine are valid, and the next run
    /// removes them.
    private func remove(_ hashes: Set<ContentHash>, from files: [(name: String, bytes: Int64, made: Int64)]) {
        for file in files.sorted(by: { $0.bytes < $1.bytes }) {
            if let hash = Self.hash(of: file.name), hashes.contains(hash) { cache.remove(file.name) }
        }
    }

    private static func hash(of name: String) -> ContentHash? {
        // A hash has 64 hexadecimal digits.
        ContentHash(String(name.prefix(64)))
    }
}
