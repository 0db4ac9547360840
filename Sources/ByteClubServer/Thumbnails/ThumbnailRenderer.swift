import ByteClubCore
import ByteClubMedia

/// Makes thumbnails with the media library.
struct ThumbnailRenderer: Sendable {
    private static let quality = 82
    /// Goes up with every change after which a photo that was refused may have a thumbnail.
    static let version = 2

    /// Where a photo that is no file waits while it is read.
    let scratch: String

    /// Makes a thumbnail; blocks.
    ///
    /// - Throws: ``APIError`` 415 when the source is no picture that can be decoded, 404 when it is too large.
    @Sendable func render(
        _ source: LocalContent, _ size: ThumbnailSize, _ format: ThumbnailImageFormat
    ) throws -> [UInt8] {
        try source.withFile(in: scratch) { try render(file: $0, size, format) }
    }

    private func render(
        file: String, _ size: ThumbnailSize, _ format: ThumbnailImageFormat
    ) throws -> [UInt8] {
        do {
            return try Thumbnail.make(
                file: file, width: size.width, height: size.height, format: format == .png ? .png : .jpeg,
                quality: Self.quality, followsLinks: false)
        } catch {
            throw try APIError(refusing: error)
        }
    }
}

extension APIError {
    /// What a client is told of a photo of which no smaller picture can be made.
    ///
    /// - Throws: The error itself when the fault is the storage's and not the photo's.
    init(refusing error: MediaError) throws(MediaError) {
        switch error.code {
        case .io: throw error
        case .tooLarge: self.init(404, "the thumbnail was not found: \(error.message)")
        case .tooSmall: self.init(404, "the tile was not found: \(error.message)")
        default: self.init(415, "the photo cannot be decoded: \(error.message)")
        }
    }
}
