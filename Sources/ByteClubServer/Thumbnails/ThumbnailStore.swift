import ByteClubCore
import NIOPosix

/// Smaller pictures of photos: made by a bounded number of threads, and kept by content, size and format.
struct ThumbnailStore: Sendable {
    /// The longest photo in bytes that has a thumbnail.
    static let sourceLimit: Int64 = 20 << 20

    /// Makes a thumbnail; may block.
    typealias Renderer = @Sendable (ThumbnailSource, ThumbnailSize, ThumbnailImageFormat) throws -> [UInt8]

    private let cache: ThumbnailCache
    private let threads: NIOThreadPool
    private let render: Renderer

    /// Keeps thumbnails in a folder, and makes them on some threads.
    init(directory: String, threads: NIOThreadPool, render: @escaping Renderer) {
        cache = ThumbnailCache(directory: directory)
        self.threads = threads
        self.render = render
    }

    /// The thumbnail of a content.
    ///
    /// - Throws: ``APIError`` 415 when the content is no picture.
    func thumbnail(
        of hash: ContentHash, size: ThumbnailSize, format: ThumbnailImageFormat,
        source: @escaping @Sendable () async throws -> StoredContent
    ) async throws -> [UInt8] {
        let cache = cache
        let name = "\(hash)-\(size.rawValue).\(format.rawValue)"
        if let known = try await NIOThreadPool.singleton.runIfActive({ cache.read(name) }) { return known }
        let content = try await source()
        let render = render
        return try await threads.runIfActive {
            let bytes = try render(ThumbnailSource(content), size, format)
            cache.store(bytes, as: name)
            return bytes
        }
    }
}

/// The photo that a thumbnail is made of.
enum ThumbnailSource: Sendable {
    /// The photo's bytes.
    case bytes([UInt8])
    /// The file that holds the photo.
    case file(String)

    init(_ content: StoredContent) {
        switch content {
        case .bytes(let bytes): self = .bytes(bytes)
        case .file(let path, _): self = .file(path)
        }
    }
}
