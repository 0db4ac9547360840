import ByteClubCore

/// The files of a folder by their lengths, so that bytes that are there are not sent again.
struct KnownPhotos: Sendable {
    private var files: [Int64: [Metadata]] = [:]

    /// Knows none.
    init() {}

    /// Asks the server once.
    init(of folder: RemotePath, _ remote: any Remote) async throws {
        for file in try await FolderListing().entries(of: folder, remote) ?? [] { add(file) }
    }

    /// Takes one that was just stored.
    mutating func add(_ file: Metadata) {
        if file.contentHash != nil { files[file.bytes, default: []].append(file) }
    }

    /// Takes what another copy knows of the files of one length.
    mutating func take(_ size: Int64, from other: KnownPhotos) { files[size] = other.files[size] }

    /// Whether a file is worth being hashed.
    func hasOne(of size: Int64) -> Bool { files[size] != nil }

    /// A file with these bytes, that of a name rather than any other.
    func one(of size: Int64, _ hash: ContentHash, named path: RemotePath) -> Metadata? {
        let equal = (files[size] ?? []).filter { $0.contentHash == hash }
        return equal.first { $0.path.key == path.key } ?? equal.first
    }
}
