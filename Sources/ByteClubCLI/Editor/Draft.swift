import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc

/// A note's text during an edit, kept on disk until the server has acknowledged it.
///
/// Each draft has a private directory that holds the text under the note's own name, so that editors see its suffix.
/// The record of its origin is beside that directory.
struct Draft: Sendable {
    /// The version that a draft is based on.
    struct Origin: Encodable, Hashable, Sendable {
        /// The server.
        var server: String
        /// The note.
        var path: RemotePath
        /// The version that was opened; nil for a new note.
        var revision: Revision?
        /// The hash of the text that was opened; nil for a new note.
        var hash: ContentHash?
    }

    /// The draft's directory.
    let directory: String
    /// The name of the note.
    let name: String

    /// The file that the editor opens.
    var file: String { directory + "/" + name }
    private var originFile: String { directory + ".json" }

    /// The place of a note's draft.
    init(of path: RemotePath, on server: ServerAddress, in drafts: String) {
        let identity = ContentHasher.hash(Array("\(server)\n\(path.key)".utf8))
        directory = drafts + "/" + identity.description.prefix(16)
        name = path.name
    }

    /// The version that the draft is based on; nil when there is no draft.
    func origin() throws -> Origin? {
        guard LocalFile.exists(originFile), LocalFile.exists(file) else { return nil }
        let bytes = try LocalFile.read(originFile, limit: 1 << 16)
        do {
            return try JSONReader.read(Origin.self, from: bytes)
        } catch {
            throw Failure(.inputOutput, "'\(originFile)' is damaged; your text is in '\(file)'")
        }
    }

    /// Starts a draft with a text.
    func begin(_ text: [UInt8], origin: Origin) throws {
        try LocalFile.makePrivateDirectory(directory)
        try LocalFile.replace(file, with: text, mode: 0o600)
        try LocalFile.replace(originFile, with: JSON.bytes(origin), mode: 0o600)
    }

    /// The current text.
    func text() throws -> [UInt8] { try LocalFile.read(file, limit: NoteContent.limit) }

    /// Syncs the text to disk, since editors may not.
    func sync() throws {
        try LocalFile.sync(file)
        try LocalFile.syncDirectory(of: file)
    }

    /// Removes the draft with everything that the editor has left beside it.
    func remove() {
        // The origin first: a draft without one does not count.
        unsafe unlink(originFile)
        guard let names = try? Array(FolderNames(directory)) else { return }
        for name in names { unsafe unlink(directory + "/" + name) }
        unsafe rmdir(directory)
    }

    /// Locks the draft for as long as the result lives.
    func lock() throws -> OwnedDescriptor<FileFailure> {
        try LocalFile.makePrivateDirectory(LocalFile.parent(of: directory))
        let lock = try OwnedDescriptor<FileFailure>(directory + ".lock", O_RDWR | O_CREAT, for: "create")
        guard (try? lock.lock()) == true else {
            throw Failure(.tryAgain, "'\(name)' is being edited by another byteclub; close that editor first")
        }
        return lock
    }
}

extension Draft.Origin: JSONReadable {
    /// Reads the file's object.
    init(json: inout JSONReader) throws(JSONError) {
        var (server, path): (String?, RemotePath?)
        var (revision, hash): (Revision?, ContentHash?)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "server": server = try json.value()
            case "path": path = try json.value()
            case "revision": revision = try json.optional()
            case "hash": hash = try json.optional()
            default: try json.skip()
            }
        }
        guard let server else { throw JSONError(.missing("server")) }
        guard let path else { throw JSONError(.missing("path")) }
        self.init(server: server, path: path, revision: revision, hash: hash)
    }
}
