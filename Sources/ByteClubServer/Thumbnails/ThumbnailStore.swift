import ByteClubCore
import NIOPosix

/// Smaller pictures of photos: made once by a bounded number of threads, for one party after the other, and kept by
/// content, size and format, as is why there is none.
struct ThumbnailStore: Sendable {
    /// The longest photo in bytes that has a thumbnail.
    static let sourceLimit: Int64 = 20 << 20

    /// Makes a thumbnail; may block.
    typealias Renderer = @Sendable (LocalContent, ThumbnailSize, ThumbnailImageFormat) throws -> [UInt8]

    /// A picture that a party asks for.
    private struct Wish: Hashable {
        let name: String
        let party: Party
    }

    private let cache: ThumbnailCache
    private let threads: NIOThreadPool
    private let turns: SharedPool
    private let version: Int
    private let render: Renderer
    private let renditions: RenditionStore?
    private let waiting = SingleFlight<Wish, [UInt8]>()
    private let rendering = SingleFlight<String, [UInt8]>()

    /// Keeps thumbnails in a folder, and makes them on some threads.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - threads: What may block.
    ///   - turns: Who may have a thread.
    ///   - version: The renderer's version: what another one refused is tried again.
    ///   - renditions: Larger pictures, of which thumbnails are made where they are there; nil for none.
    ///   - render: Makes a thumbnail.
    init(
        directory: String, threads: NIOThreadPool, turns: SharedPool, version: Int = ThumbnailRenderer.version,
        renditions: RenditionStore? = nil,
        render: @escaping Renderer
    ) {
        cache = ThumbnailCache(directory: directory)
        self.threads = threads
        self.turns = turns
        self.version = version
        self.render = render
        self.renditions = renditions
    }

    /// The thumbnail of a content.
    ///
    /// All who ask for the same one share the work, and those of one party share a place in the queue. Work for which
    /// nobody waits any more leaves the queue; what is being rendered is not stopped.
    ///
    /// - Throws: ``APIError`` 415 when the content is no picture, 404 when it is too large, 429 or 503 when too many
    ///   wait already.
    func thumbnail(
        of hash: ContentHash, size: ThumbnailSize, format: ThumbnailImageFormat, for party: Party,
        source: @escaping @Sendable () async throws -> StoredContent
    ) async throws -> [UInt8] {
        let name = "\(hash)-\(size.rawValue).\(format.rawValue)"
        if let known = try await known(name) { return try known.get() }
        return try await waiting.value(of: Wish(name: name, party: party)) {
            let turn = try await turns.wait(for: party)
            defer { withExtendedLifetime(turn) {} }
            return try await rendering.value(of: name) {
                if let known = try await known(name) { return try known.get() }
                if let picture = try await NIOThreadPool.singleton.runIfActive({ picture(hash, size) }) {
                    return try await threads.runIfActive { try make(name, of: picture, size, format) }
                }
                let source = try await source().local(upTo: Self.sourceLimit)
                return try await threads.runIfActive { try make(name, of: source, size, format) }
            }
        }
    }

    private func picture(_ hash: ContentHash, _ size: ThumbnailSize) -> LocalContent? {
        renditions?.source(ofThumbnailOf: hash, size).map { .file($0.path) }
    }

    private func make(
        _ name: String, of source: LocalContent, _ size: ThumbnailSize, _ format: ThumbnailImageFormat
    ) throws -> [UInt8] {
        do {
            let bytes = try render(source, size, format)
            cache.store(bytes, as: name)
            return bytes
        } catch let error as APIError {
            // What is wrong with the photo stays wrong; another error may be the machine's.
            cache.refuse(error, as: refusalName(name))
            throw error
        }
    }

    /// What came of a thumbnail that was asked for before.
    private func known(_ name: String) async throws -> Result<[UInt8], APIError>? {
        try await NIOThreadPool.singleton.runIfActive {
            if let bytes = cache.read(name) { return .success(bytes) }
            return cache.refusal(refusalName(name)).map { .failure($0) }
        }
    }

    private func refusalName(_ name: String) -> String { "\(name).refused-\(version)" }
}
