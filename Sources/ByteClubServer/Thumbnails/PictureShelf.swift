import ByteClubCore
import NIOPosix

/// The folder of pictures as a whole: what is no photo's any more leaves it, and so does what is too much.
struct PictureShelf: Sendable {
    /// The most bytes of pictures that stay; beyond that the oldest go, and are made again when somebody asks.
    static let limit: Int64 = 16 << 30

    let cache: ThumbnailCache
    var limit = Self.limit

    /// Removes the pictures of contents that no version of a photo has any more, and the oldest beyond the limit.
    ///
    /// - Throws: ``StorageError`` when the store cannot tell; `CancellationError`.
    func prune(keepingPhotosOf store: any MediaInfoStore) async throws {
        var kept: [(name: String, bytes: Int64, made: Int64)] = []
        for byte in UInt8.min...UInt8.max {
            try Task.checkCancellation()
            let files = try await NIOThreadPool.singleton.runIfActive { cache.files(beginning: byte) }
            let hashes = Set(files.compactMap { Self.hash(of: $0.name) })
            let gone = Set(try await store.withoutPhotos(Array(hashes)))
            for file in files {
                if let hash = Self.hash(of: file.name), gone.contains(hash) {
                    cache.remove(file.name)
                } else {
                    kept.append(file)
                }
            }
        }
        var total = kept.reduce(0) { $0 + $1.bytes }
        guard total > limit else { return }
        // The pictures of one content go together, lest those that stay be taken for all.
        let groups = Dictionary(grouping: kept) { String($0.name.prefix(ContentHash.hexadecimalLength)) }
        for group in groups.values.sorted(by: { Self.age($0) < Self.age($1) }) where total > limit / 10 * 9 {
            for file in group {
                cache.remove(file.name)
                total -= file.bytes
            }
        }
    }

    private static func age(_ files: [(name: String, bytes: Int64, made: Int64)]) -> Int64 {
        files.map(\.made).max() ?? 0
    }

    private static func hash(of name: String) -> ContentHash? {
        ContentHash(String(name.prefix(ContentHash.hexadecimalLength)))
    }
}

extension ContentHash {
    /// How many hexadecimal digits a hash has.
    fileprivate static let hexadecimalLength = 64
}
