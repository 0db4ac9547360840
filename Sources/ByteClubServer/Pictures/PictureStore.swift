import ByteClubCore
import ByteClubMedia
import NIOPosix

/// Pictures that the server makes of photos: thumbnails, previews for pages, tiles, and copies without a place.
///
/// Each is made once, by a bounded number of threads that requesters share fairly, and kept in one folder by content and
/// kind, as is the refusal of a photo of which none can be made.
struct PictureStore: Sendable {
    /// The longest photo in bytes of which previews, tiles and copies from memory are made.
    static let sourceLimit: Int64 = 64 << 20

    /// The functions that make pictures of a file, which tests replace; all block.
    struct Makers: Sendable {
        private static let quality = 82
        private static let tileQuality = 88
        /// The largest photo that can be decoded has tiles of fewer bytes, unless every pixel of it is noise.
        static let mostTileBytes = 256 << 20

        /// Makes a thumbnail.
        var thumbnail: @Sendable (_ file: String, ThumbnailSize, ThumbnailImageFormat) throws -> [UInt8] = {
            try Thumbnail.make(
                file: $0, width: $1.width, height: $1.height, format: $2 == .png ? .png : .jpeg, quality: quality,
                followsLinks: false)
        }
        /// Raised with every change after which a photo that was refused may have a thumbnail.
        var thumbnailVersion = 2
        /// Makes previews that fit in boxes of these sizes in pixels.
        var previews: @Sendable (_ file: String, _ sizes: [Int]) throws -> [Int: [UInt8]] = {
            try Renditions.make(file: $0, sizes: $1, quality: quality)
        }
        /// Writes the tiles of a file into another.
        var tiles: @Sendable (_ file: String, _ output: String) throws -> Void = {
            try Tiles.write(file: $0, to: $1, quality: tileQuality, limit: mostTileBytes)
        }
    }

    /// The folder of pictures, in which photos that are in no file also get one for the time of their decoding.
    let directory: String
    /// The files of the folder.
    let cache: ThumbnailCache
    /// Threads that may block.
    let threads: NIOThreadPool
    /// The fair queue for these threads.
    let turns: FairSemaphore
    /// The space that writers need on the disk of the folder.
    let reserve: DiskReserve
    let makers: Makers
    let thumbnails = SharedWork<[UInt8]>()
    let previews = SharedWork<Void>()
    let tiles = SharedWork<TileSet>()
    let copies = SharedWork<FileBlob>()

    /// Keeps pictures in a folder, and makes them on some threads when it is a requester's turn.
    init(
        directory: String, threads: NIOThreadPool, turns: FairSemaphore, reserve: DiskReserve,
        makers: Makers = Makers()
    ) {
        self.directory = directory
        self.threads = threads
        self.turns = turns
        self.reserve = reserve
        self.makers = makers
        cache = ThumbnailCache(directory: directory)
    }

    /// Whether no picture is being made or waited for.
    var isIdle: Bool { turns.used == 0 && turns.waiting == 0 }

    /// A kind of work that requests for the same picture share.
    final class SharedWork<Made: Sendable>: Sendable {
        /// A picture for which a requester waits.
        struct Wish: Hashable {
            let name: String
            let requester: Requester
        }

        let waiting = SingleFlight<Wish, Made>()
        let making = SingleFlight<String, Made>()
    }

    /// Finds a picture, or makes it unless that was refused before.
    ///
    /// All requests for the same one share the work, and those of one requester share a place in the queue. Work that no
    /// request waits for leaves the queue, but is not stopped once it has begun.
    ///
    /// - Parameters:
    ///   - name: The name of the picture, the same for all requests that share the work.
    ///   - work: The kind of work.
    ///   - refusal: The name under which a refusal is kept.
    ///   - requester: The requester.
    ///   - limit: The longest photo in bytes that is read into memory, where it is in no file.
    ///   - source: Finds the photo's content.
    ///   - known: Finds the picture; nil when it is not there; may block.
    ///   - make: Makes it of a file; may block.
    /// - Returns: The picture.
    /// - Throws: ``APIError`` 415 when the photo cannot be decoded, 404 when it is too large, 429 or 503 when too many
    ///   requests wait; errors of the closures.
    func picture<Made: Sendable>(
        _ name: String, by work: SharedWork<Made>, refusal: String, for requester: Requester,
        limit: Int64 = sourceLimit,
        source: @escaping @Sendable () async throws -> StoredContent,
        known: @escaping @Sendable () -> Made?, make: @escaping @Sendable (_ file: String) throws -> Made
    ) async throws -> Made {
        let find: @Sendable () throws -> Made? = {
            if let made = known() { return made }
            if let error = cache.refusal(refusal) { throw error }
            return nil
        }
        if let made = try await NIOThreadPool.singleton.runIfActive(find) { return made }
        return try await work.waiting.value(of: .init(name: name, requester: requester)) {
            let turn = try await turns.wait(for: requester)
            defer { withExtendedLifetime(turn) {} }
            return try await work.making.value(of: name) {
                if let made = try await NIOThreadPool.singleton.runIfActive(find) { return made }
                let content = try await source().local(upTo: limit)
                return try await threads.runIfActive {
                    try keepingRefusal(as: refusal) { try content.make(in: directory, make) }
                }
            }
        }
    }

    /// Keeps an error that is the photo's fault, which stays; another one may be the machine's.
    private func keepingRefusal<T>(as name: String, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as APIError {
            cache.refuse(error, as: name)
            throw error
        }
    }
}

extension LocalContent {
    /// Makes something of the content as a file, and converts errors of the media library to refusals.
    fileprivate func make<T>(in scratch: String, _ body: (String) throws -> T) throws -> T {
        // A file without a first byte is a link in the data directory, which leads to no content.
        if case .file = self, start(1).isEmpty { throw StorageError(.damaged, "a photo cannot be read") }
        return try withFile(in: scratch) { file in
            do {
                return try body(file)
            } catch let error as MediaError {
                throw try APIError(refusing: error)
            }
        }
    }
}

extension APIError {
    /// The refusal of a photo of which no smaller picture can be made.
    ///
    /// - Throws: The error itself when the storage is at fault, and not the photo.
    init(refusing error: MediaError) throws(MediaError) {
        switch error.code {
        case .io: throw error
        case .tooLarge: self.init(404, "the thumbnail was not found: \(error.message)")
        case .tooSmall: self.init(404, "the tile was not found: \(error.message)")
        default: self.init(415, "the photo cannot be decoded: \(error.message)")
        }
    }
}
