import ByteClubCore
import ByteClubMedia
import NIOCore
import NIOPosix

extension PictureStore {
    /// Raised with every change of the copies' contents, or after which a refused photo may have a copy.
    private static let copyVersion = 1
    /// The largest photo that is copied without its place, in bytes.
    private static let copyLimit: Int64 = 256 << 20

    /// The content of a file that people without an account may have, as its ``PlacelessForm`` defines it: the file
    /// itself, or a copy that is made once.
    ///
    /// - Throws: ``APIError`` 415 when they may have none, or the photo cannot be copied, 429 or 503 when too many
    ///   requests wait for a copy.
    func shareable(
        _ entry: FolderEntry, _ content: StoredContent, for requester: Requester
    ) async throws -> StoredContent {
        guard let hash = entry.contentHash else { return content }
        let name = "\(hash)-share-\(Self.copyVersion).jpg"
        if let copy = try await NIOThreadPool.singleton.runIfActive({ cache.blob(name) }) { return .blob(copy) }
        switch try await PlacelessForm(of: entry, content) {
        case .itself: return content
        case .none: throw PlacelessForm.refusal
        case .copy: break
        }
        guard entry.bytes <= Self.copyLimit else {
            throw APIError(415, "the photo is too large to remove its location")
        }
        let refusal = "\(hash)-share.refused-\(Self.copyVersion)"
        return .blob(
            try await picture(name, by: copies, refusal: refusal, for: requester) {
                content
            } known: {
                cache.blob(name)
            } make: { file in
                do {
                    try cache.make(name) { try ShareCopy.write(file: file, to: $0, keepsDate: true) }
                } catch let error as MediaError where error.code != .io {
                    throw APIError(415, "the location cannot be removed from the photo: \(error.message)")
                }
                guard let copy = cache.blob(name) else {
                    throw StorageError(.full, "no space for a copy of a photo")
                }
                return copy
            })
    }
}

/// The form in which a link that hides places gives a file, by its name and its first bytes.
enum PlacelessForm: Hashable, Sendable {
    /// The file itself, which is neither a photo nor a film.
    case itself
    /// A copy without its places: it is a JPEG or a PNG, whatever it is called.
    case copy
    /// Nothing: a film or a photo of another format, whose place cannot be removed here.
    case none

    /// The bytes of a file's start that are examined.
    private static let startLength = 12
    /// The brands of ISO media files that hold sound alone.
    private static let sounds = ["M4A ", "M4B ", "M4P "].map { Array($0.utf8) }

    /// The form of a file with this name that begins with these bytes.
    init(name: String, start: [UInt8]) {
        let type = MediaType(name: name)
        if [[0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E, 0x47]].contains(where: start.starts(with:)) {
            self = .copy
        } else {
            self = type.hasThumbnail || type.mayTellPlace || Self.mayTellPlace(start) ? .none : .itself
        }
    }

    /// The form of a stored file.
    ///
    /// - Throws: ``StorageError`` when its content is lost.
    init(of entry: FolderEntry, _ content: StoredContent) async throws {
        self.init(name: entry.path.name, start: try await content.start(Self.startLength))
    }

    /// The refusal of a file without such a form.
    static var refusal: APIError {
        APIError(
            415,
            "only JPEG and PNG photos can be shared without their location; a link keeps the location "
                + "if it is created with location=keep", parameter: "location")
    }

    /// HEIC, AVIF, MP4 and QuickTime; TIFF and the raw formats of cameras that use it; WebP; AVI; Matroska and WebM.
    private static func mayTellPlace(_ start: [UInt8]) -> Bool {
        let (first, second, third) = (start.prefix(4), start.dropFirst(4).prefix(4), start.dropFirst(8).prefix(4))
        if second.elementsEqual("ftyp".utf8) { return !sounds.contains(Array(third)) }
        if first.elementsEqual("RIFF".utf8) { return ["WEBP", "AVI "].contains { third.elementsEqual($0.utf8) } }
        return ["moov", "mdat", "wide"].contains { second.elementsEqual($0.utf8) }
            || [[0x49, 0x49, 0x2A, 0], [0x4D, 0x4D, 0, 0x2A], [0x1A, 0x45, 0xDF, 0xA3]].contains(Array(first))
    }
}

extension StoredContent {
    /// The first bytes, fewer when there are fewer.
    fileprivate func start(_ count: Int) async throws -> [UInt8] {
        switch self {
        case .bytes(let bytes): return Array(bytes.prefix(count))
        case .blob(let blob):
            let start = try await blob.open().read(at: 0, count: Int(min(Int64(count), blob.length)))
            return Array(start.readableBytesView)
        }
    }
}
