import ByteClubCore
import ByteClubMedia
import Glibc

/// Makes thumbnails with the media library.
struct ThumbnailRenderer: Sendable {
    private static let quality = 82
    /// Goes up with every change after which a photo that was refused may have a thumbnail.
    static let version = 1

    /// Where a photo that is no file waits while it is read.
    let scratch: String

    /// Makes a thumbnail; blocks.
    ///
    /// - Throws: ``APIError`` 415 when the source is no picture that can be decoded, 404 when it is too large.
    @Sendable func render(
        _ source: LocalContent, _ size: ThumbnailSize, _ format: ThumbnailImageFormat
    ) throws -> [UInt8] {
        switch source {
        case .file(let path): return try render(file: path, size, format)
        case .bytes(let bytes):
            unsafe mkdir(scratch, 0o700)
            var template = Array((scratch + "/.source-XXXXXX").utf8CString)
            let descriptor = unsafe mkstemp(&template)
            guard descriptor >= 0 else { throw StorageError(errno: errno, "cannot copy stored content") }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            defer { unsafe unlink(path) }
            let count = unsafe write(descriptor, bytes, bytes.count)
            close(descriptor)
            guard count == bytes.count else { throw StorageError(.full, "no room for a thumbnail's source") }
            return try render(file: path, size, format)
        }
    }

    private func render(
        file: String, _ size: ThumbnailSize, _ format: ThumbnailImageFormat
    ) throws -> [UInt8] {
        do {
            return try Thumbnail.make(
                file: file, width: size.width, height: size.height, format: format == .png ? .png : .jpeg,
                quality: Self.quality, followsLinks: false)
        } catch {
            switch error.code {
            case .io: throw error
            case .tooLarge: throw APIError(404, "the thumbnail was not found: \(error.message)")
            default: throw APIError(415, "the photo cannot be decoded: \(error.message)")
            }
        }
    }
}
