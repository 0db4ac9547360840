import ByteClubCore

/// The one JSON object in which commands tell of a note, a photo or a folder, or of one of its versions.
struct EntryObject: Encodable, Sendable {
    /// What kind of entry it is.
    enum Kind: String, Encodable, Sendable { case file, folder }

    /// The last part of the path.
    var name: String
    /// Where it is on the server.
    var path: RemotePath
    /// What it is.
    var type: Kind
    /// Bytes; 0 for folders and what is deleted.
    var size: Int64
    /// How many notes or photos lie below a folder, where a list tells it.
    var count: Int?
    /// When the server made this version, as RFC 3339 in UTC.
    var modified: String?
    /// When a file was last changed where it came from, else when it was stored, as RFC 3339 in UTC; nil for folders.
    var mtime: String?
    /// True for a file that may be executed, absent otherwise.
    var executable: Bool?
    /// The version.
    var rev: Revision?
    /// The name of the member who made this version, where the server tells it.
    var author: String?
    /// The content hash, where the server tells it.
    var hash: ContentHash?
    /// True for what is deleted, absent otherwise.
    var deleted: Bool?
    /// The piece of the text that a search found.
    var snippet: TextSnippet?
    /// What the server knows of a photo as a picture, where it was asked.
    var photo: PhotoObject?

    private enum CodingKeys: String, CodingKey {
        case name, path, type, size, count, modified, mtime, executable, rev, author, hash, deleted, snippet, photo
    }

    /// Takes what the server tells.
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

    /// The paragraph of a command's help that names the members.
    static let help = """
        With --json an entry is an object with name, path, type (file or folder), size in bytes, modified (RFC 3339), \
        mtime (the file's own date), rev, author and hash where the server tells them, count in a folder that a list \
        has, and executable or deleted when it is.
        """
}
