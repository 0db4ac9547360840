import ByteClubCore

/// The JSON object for a note, photo or folder, or for one of its versions.
struct EntryObject: Encodable, Sendable {
    /// The kind of an entry.
    enum Kind: String, Encodable, Sendable { case file, folder }

    /// The last part of the path.
    var name: String
    /// Its path on the server.
    var path: RemotePath
    /// File or folder.
    var type: Kind
    /// Bytes; 0 for folders and deleted entries.
    var size: Int64
    /// The number of notes or photos below a folder, in lists that count them.
    var count: Int?
    /// The server's time of this version, as RFC 3339 in UTC.
    var modified: String?
    /// When a file was last changed on its original machine, else when it was stored, as RFC 3339 in UTC; nil for
    /// folders.
    var mtime: String?
    /// True for executable files, absent otherwise.
    var executable: Bool?
    /// The version.
    var rev: Revision?
    /// The name of the member who made this version, if the server sends it.
    var author: String?
    /// The content hash, if the server sends it.
    var hash: ContentHash?
    /// True for deleted entries, absent otherwise.
    var deleted: Bool?
    /// The part of the text that matches a search.
    var snippet: TextSnippet?
    /// The server's facts about a photo, if they were requested.
    var photo: PhotoObject?

    /// Converts an entry from the server.
    init(_ entry: Metadata) {
        name = entry.path.name
        path = entry.path
        type = entry.isFolder ? .folder : .file
        size = entry.bytes
        modified = entry.modified.map { CalendarTime.utc($0.seconds).rfc3339 }
        mtime = entry.isDeleted ? nil : entry.fileTime.map { CalendarTime.rfc3339($0) }
        executable = entry.isExecutable == true ? true : nil
        rev = entry.rev
        author = entry.modifier?.displayName
        hash = entry.contentHash
        deleted = entry.isDeleted ? true : nil
        snippet = entry.snippet
        photo = entry.photoInfo.map(PhotoObject.init)
    }

    /// The paragraph about members in a command's help.
    static let help = """
        With --json an entry is an object with name, path, type (file or folder), size in bytes, modified (RFC 3339), \
        mtime (the file's own date), rev, author and hash where the server tells them, count in a folder that a list \
        has, and executable or deleted when it is.
        """
}

/// A photo's properties in JSON.
struct PhotoObject: Encodable, Sendable {
    /// True before the server has read the photo, absent otherwise.
    var pending: Bool?
    /// Its projection: `sphere`, `partialSphere`, `cylinder`, `strip` or `flat`.
    var kind: String?
    /// Pixels across, after rotation by the photo's orientation.
    var width: Int?
    /// Pixels down, after rotation by the photo's orientation.
    var height: Int?
    /// Degrees covered from left to right.
    var hFOV: Double?
    /// Degrees covered from bottom to top.
    var vFOV: Double?
    /// The local time when it was taken, as RFC 3339; without an offset if the photo has none.
    var taken: String?
    /// Degrees north.
    var latitude: Double?
    /// Degrees east.
    var longitude: Double?

    /// Converts facts from the server.
    init(_ info: MediaInfo) {
        pending = info.isPending ? true : nil
        kind = info.shape?.kind.rawValue
        width = info.shape?.width
        height = info.shape?.height
        hFOV = info.shape?.hFOV
        vFOV = info.shape?.vFOV
        taken = info.taken?.description
        latitude = info.place?.latitude
        longitude = info.place?.longitude
    }
}
