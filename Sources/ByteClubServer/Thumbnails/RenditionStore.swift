import ByteClubCore
import ByteClubMedia
import NIOPosix

/// Pictures of photos in the sizes that pages show: all of one content are made together, once, by a bounded number of
/// threads, and kept by content and size, as is why there are none.
struct RenditionStore: Sendable {
    /// The boxes in which they fit, in pixels, the smallest first.
    static let sizes = [256, 512, 1024, 2048, 4096]
    /// The longest photo in bytes that has any.
    static let sourceLimit = PictureWork.sourceLimit
    private static let quality = 82
    /// Goes up with every change after which a photo that was refused may have some.
    private static let version = 1

    /// Makes pictures in some sizes of a file; blocks.
    typealias Maker = @Sendable (_ file: String, _ sizes: [Int]) throws(MediaError) -> [Int: [UInt8]]

    private let cache: ThumbnailCache
    private let scratch: String
    private let work: PictureWork
    private let make: Maker

    /// Keeps pictures in a folder, and makes them on some threads when it is a party's turn.
    init(
        directory: String, threads: NIOThreadPool, turns: SharedPool,
        make: @escaping Maker = { file, sizes throws(MediaError) in
            try Renditions.make(file: file, sizes: sizes, quality: Self.quality)
        }
    ) {
        cache = ThumbnailCache(directory: directory)
        scratch = directory
        work = PictureWork(threads: threads, turns: turns)
        self.make = make
    }

    /// Whether nobody makes pictures or waits for some.
    var isIdle: Bool { work.turns.used == 0 && work.turns.waiting == 0 }

    /// A content's picture that fits in a box of one of ``sizes``; a smaller one when the photo is.
    ///
    /// All who ask for pictures of one content share the work. What is being made is not stopped when nobody waits for
    /// it any more.
    ///
    /// - Throws: ``APIError`` 415 when the content is no picture, 404 when it is too large, 429 or 503 when too many
    ///   wait already.
    func picture(
        of hash: ContentHash, size: Int, for party: Party, source: @escaping @Sendable () async throws -> StoredContent
    ) async throws -> FileBlob {
        try await makeAll(of: hash, for: party, source: source)
        guard let picture = try await NIOThreadPool.singleton.runIfActive({ known(hash, size) }) else {
            throw StorageError(.full, "no space for previews")
        }
        return picture
    }

    /// Makes what is not there yet of a content's pictures.
    ///
    /// - Throws: As ``picture(of:size:for:source:)``.
    func makeAll(
        of hash: ContentHash, for party: Party, source: @escaping @Sendable () async throws -> StoredContent
    ) async throws {
        try await makeAll(of: hash, .now, for: party, source: source)
    }

    private func makeAll(
        of hash: ContentHash, _ syncing: ThumbnailCache.Syncing, for party: Party,
        source: @escaping @Sendable () async throws -> StoredContent
    ) async throws {
        _ = try await work.ensure(hash, for: party, source: source) {
            try isMade(hash) ? () : nil
        } work: {
            try make(hash, of: $0, syncing)
        }
    }

    /// Makes what nobody has asked for, as ``makeAll(of:for:source:)``, unless a process has ended over it; a crash of
    /// the machine before the next ``settle()`` may take it away.
    func tryAll(
        of hash: ContentHash, for party: Party, source: @escaping @Sendable () async throws -> StoredContent
    ) async throws {
        let mark = "\(hash)-trying"
        let isTried = try await NIOThreadPool.singleton.runIfActive {
            if cache.read(mark) != nil { return true }
            cache.store([UInt8(ascii: "1")], as: mark, .never)
            return false
        }
        if isTried { return }
        defer { cache.remove(mark) }
        try await makeAll(of: hash, .later, for: party, source: source)
    }

    /// Syncs what ``tryAll(of:for:source:)`` has made.
    func settle() async throws { try await NIOThreadPool.singleton.runIfActive { cache.settle() } }

    /// How many bytes the pictures of a content take; blocks for the file system's answer.
    func bytes(of hash: ContentHash) -> Int64 {
        Self.sizes.reduce(0) { $0 + (cache.blob(Self.name(hash, $1))?.length ?? 0) }
    }

    private func make(_ hash: ContentHash, of source: LocalContent, _ syncing: ThumbnailCache.Syncing) throws {
        do {
            let made: [Int: [UInt8]] = try source.withFile(in: scratch) { file in
                // A link in the data directory leads to what is no content.
                if source.start(1).isEmpty { throw StorageError(.damaged, "a photo cannot be read") }
                do throws(MediaError) {
                    return try make(file, Self.sizes)
                } catch {
                    throw try APIError(refusing: error)
                }
            }
            // The smallest is stored last: where it is, all are, also after a crash of the machine. That it is there
            // itself need not be certain, since all can be made again. What is no larger than the next one is not kept
            // twice.
            for (size, smaller) in zip(Self.sizes, [nil] + Self.sizes).reversed() {
                guard let bytes = made[size], smaller.flatMap({ made[$0] }) != bytes else { continue }
                if smaller == nil, syncing == .now { cache.syncFolder(of: Self.name(hash, size)) }
                guard cache.store(bytes, as: Self.name(hash, size), syncing) else {
                    throw StorageError(.full, "no space for previews")
                }
            }
        } catch let error as APIError {
            cache.refuse(error, as: Self.refusalName(hash))
            throw error
        }
    }

    /// Whether all pictures of a content are there; blocks.
    ///
    /// - Throws: ``APIError`` when there can be none.
    private func isMade(_ hash: ContentHash) throws -> Bool {
        if cache.blob(Self.name(hash, Self.sizes[0])) != nil { return true }
        if let refusal = cache.refusal(Self.refusalName(hash)) { throw refusal }
        return false
    }

    /// A picture that is there, the largest that fits in a box; blocks.
    private func known(_ hash: ContentHash, _ size: Int) -> FileBlob? {
        Self.sizes.reversed().lazy.filter { $0 <= size }.compactMap { cache.blob(Self.name(hash, $0)) }.first
    }

    /// The smallest picture of a content that is there and as large as its size says, at least 1.4 times as large as a
    /// thumbnail, since from such a one it is as sharp as from the photo.
    ///
    /// Blocks.
    func source(ofThumbnailOf hash: ContentHash, _ size: ThumbnailSize) -> FileBlob? {
        let needed = max(size.width, size.height) * 7 / 5
        for (picture, larger) in zip(Self.sizes, Self.sizes.dropFirst()) where picture >= needed {
            // The largest one that is there may be as large as the photo only.
            guard cache.blob(Self.name(hash, larger)) != nil else { return nil }
            return cache.blob(Self.name(hash, picture))
        }
        return nil
    }

    private static func name(_ hash: ContentHash, _ size: Int) -> String { "\(hash)-\(size).jpg" }

    private static func refusalName(_ hash: ContentHash) -> String { "\(hash)-pictures.refused-\(version)" }
}
