import ByteClubCore

/// The notes and photos of the folder in the order of their dates, and photos by kind, date and place; with the details
/// that were read from photos, by content, so that none is read twice.
///
/// The date of a photo is that of a clock at its place, if known (``mediaInfo(of:)``). All other dates are file dates
/// by the server's clock. A caption can set the kind of its photo. A database answers from indexes, without a look at
/// the whole folder.
protocol GalleryStore: Sendable {
    /// The notes and photos that match a filter, before or after a place, at most `limit`, the nearest first; all of one
    /// snapshot.
    ///
    /// A caption comes with its photo and not as a note of its own.
    ///
    /// - Throws: As ``SharedFolder/existing(_:)`` when the filter's folder does not exist.
    func gallery(_ side: GallerySide, matching filter: GalleryFilter, limit: Int) async throws -> GalleryPage

    /// The days and shapes of all that matches a filter, and how much of it was added after a revision.
    ///
    /// - Throws: As ``gallery(_:matching:limit:)``.
    func galleryIndex(matching filter: GalleryFilter, newSince revision: Int64?) async throws -> GalleryIndex

    /// The folders that contain photos, that with the newest photo first, at most `limit`.
    func albums(limit: Int) async throws -> [Album]

    /// The place of a version of a note or a photo; nil for one that is not in the gallery.
    func galleryPlace(of revision: Int64) async throws -> GalleryPlace?

    /// The photos below a folder that match a filter and a name, the newest first, at most `limit`.
    ///
    /// - Throws: As ``SharedFolder/existing(_:)`` when there is no such folder.
    func photos(
        below path: RemotePath, matching filter: PhotoFilter, named name: SearchQuery?, limit: Int
    ) async throws -> [Metadata]

    /// The photos below a folder of which nothing is known yet, the last stored first, at most `limit`.
    func unreadPhotos(below path: RemotePath, limit: Int) async throws -> [FolderEntry]

    /// The bytes of the captions of photos, by the photos' keys; those that lie in files are left out.
    func captions(of photos: [PathKey]) async throws -> [PathKey: [UInt8]]

    /// The kinds that captions set for their photos, by the photos' keys.
    func captionViews(of photos: [PathKey]) async throws -> [PathKey: PhotoShape.Kind]

    /// The details that ``keep(_:)`` has stored for contents in this ``MediaInfo/version``.
    func mediaInfo(of hashes: [ContentHash]) async throws -> [ContentHash: MediaInfo]

    /// Stores the details of contents.
    func keep(_ found: [ContentHash: MediaInfo]) async throws

    /// The contents, of these, that have been read but have no placeholder yet.
    func withoutPlaceholders(_ hashes: [ContentHash]) async throws -> [ContentHash]

    /// Stores the placeholders of contents that have been read (``Placeholder``).
    func keep(placeholders: [ContentHash: [UInt8]]) async throws

    /// The live files that are photos by their names and have a content, at most `limit`.
    func photos(with hash: ContentHash, limit: Int) async throws -> [FolderEntry]

    /// The contents, of these, that no version of a photo has, live or not.
    func withoutPhotos(_ hashes: [ContentHash]) async throws -> [ContentHash]
}

/// The kinds of files that the gallery shows.
enum GalleryKind: Hashable, Sendable {
    case photo, note

    /// The ends of the names of photos, folded.
    static let photos = ["jpg", "jpeg", "png"].filter { MediaType(name: "a." + $0).hasThumbnail }
    /// The ends of the names of notes, folded.
    static let notes = ["md", "markdown", "txt"]

    /// The kind of a file by its name; nil for a file that the gallery does not show.
    init?(_ name: String) {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let end = PathKey.fold(String(name[name.index(after: dot)...]))
        if Self.photos.contains(end) {
            self = .photo
        } else if Self.notes.contains(end) {
            self = .note
        } else {
            return nil
        }
    }

    /// Whether a file of this name is the caption of a photo, if there is such a one beside it.
    static func isCaption(_ name: String) -> Bool {
        PathKey.fold(name).hasSuffix(".md") && GalleryKind(String(name.dropLast(3))) == .photo
    }
}

extension MediaInfo {
    /// The version of the reader whose findings a store keeps: what another version found counts as unknown.
    ///
    /// Raise it with every change of what ``MediaInfoReader`` finds. A migration must delete what older versions found,
    /// so that searches read it again (``Schema/keepClocks(_:)``).
    static let version = 4
}
