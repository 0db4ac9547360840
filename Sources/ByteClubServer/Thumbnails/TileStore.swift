import ByteClubCore
import ByteClubMedia
import NIOPosix

/// The tiles of photos that are larger than the largest picture of them, for those who look closely: those of one
/// content are made together, once somebody wants one, and kept in one file, as is why there are none.
struct TileStore: Sendable {
    private static let quality = 88
    /// Goes up with every change of what tiles are, or after which a photo that was refused may have some.
    private static let version = 1
    /// The bytes that stay free on the disk beyond what writers need: pages do without tiles.
    private static let spare: Int64 = 256 << 20
    /// The most bytes that the tiles of one photo take: the largest photo that can be decoded needs less, unless every
    /// pixel of it is noise.
    private static let largest = 256 << 20

    /// Writes the tiles of a file into another; blocks.
    typealias Writer = @Sendable (_ file: String, _ output: String) throws(MediaError) -> Void

    private let cache: ThumbnailCache
    private let scratch: String
    private let reserve: DiskReserve
    private let work: PictureWork
    private let write: Writer

    /// Keeps tiles in a folder, and makes them on some threads when it is a party's turn.
    init(
        directory: String, threads: NIOThreadPool, turns: SharedPool, reserve: DiskReserve,
        write: @escaping Writer = { file, output throws(MediaError) in
            try Tiles.write(file: file, to: output, quality: Self.quality, limit: Self.largest)
        }
    ) {
        cache = ThumbnailCache(directory: directory)
        scratch = directory
        self.reserve = reserve
        work = PictureWork(threads: threads, turns: turns)
        self.write = write
    }

    /// A tile of a content, as bytes of a file.
    ///
    /// All who ask for tiles of one content share the work. What is being made is not stopped when nobody waits for it
    /// any more.
    ///
    /// - Throws: ``APIError`` 404 when there is no such tile, or the photo is too large or has none, 415 when the
    ///   content is no picture, 429 or 503 when too many wait already; ``StorageError`` when there is no room.
    func tile(
        of hash: ContentHash, column: Int, row: Int, for party: Party,
        source: @escaping @Sendable () async throws -> StoredContent
    ) async throws -> (file: any BlobReader, range: Range<Int64>) {
        let made = try await work.ensure(hash, for: party, source: source) {
            if let refusal = cache.refusal(Self.refusalName(hash)) { throw refusal }
            return known(hash)
        } work: {
            try make(hash, of: $0)
        }
        guard let (file, tiles) = made else { throw StorageError(.full, "no space for tiles") }
        guard let range = tiles.range(column: column, row: row) else { throw APIError(404, "the tile was not found") }
        return (file, range)
    }

    private func make(_ hash: ContentHash, of source: LocalContent) throws {
        try reserve.check(for: Self.spare + Int64(Self.largest))
        do {
            try source.withFile(in: scratch) { file in
                // A link in the data directory leads to what is no content.
                if source.start(1).isEmpty { throw StorageError(.damaged, "a photo cannot be read") }
                do throws(MediaError) {
                    try cache.make(Self.name(hash)) { (output) throws(MediaError) in try write(file, output) }
                } catch {
                    throw try APIError(refusing: error)
                }
            }
        } catch let error as APIError {
            cache.refuse(error, as: Self.refusalName(hash))
            throw error
        }
    }

    /// The tiles that are there, open for reading; nil when there are none, or what is there is broken.
    ///
    /// Blocks.
    private func known(_ hash: ContentHash) -> (file: any BlobReader, tiles: TileFile)? {
        // The file that is open stays there, whoever removes it meanwhile.
        guard let blob = cache.blob(Self.name(hash)), let file = try? blob.open(),
            let tiles = try? TileFile(path: blob.path)
        else { return nil }
        return (file, tiles)
    }

    private static func name(_ hash: ContentHash) -> String { "\(hash)-tiles-\(version)" }

    private static func refusalName(_ hash: ContentHash) -> String { "\(hash)-tiles.refused-\(version)" }
}
