import ByteClubCore

/// The versions of a note or photo on the server.
struct EntryVersions: Sendable {
    /// The most versions that a server lists.
    static let most = 1000

    /// The entry.
    let path: RemotePath
    /// The folder that names are relative to.
    let folder: RemotePath
    /// `note` or `photo`.
    let kind: String

    /// The versions of a note by its typed name.
    init(ofNote name: String, _ login: Login) throws {
        (path, folder, kind) = (try EntryPath.note(name, login), login.notes, "note")
    }

    /// The versions of a photo by its typed name.
    init(ofPhoto name: String, _ login: Login) throws {
        (path, folder, kind) = (try EntryPath.photo(name, login), try login.photos, "photo")
    }

    private var name: String { path.name(below: folder) }

    /// The versions, newest first.
    func list(_ remote: any Remote, limit: Int) async throws -> [Metadata] {
        do {
            return try await remote.revisions(of: path, limit: limit)
        } catch {
            guard error.code == .notFound else { throw error }
            throw await EntryPath.refusal(kind, path, below: folder, remote)
        }
    }

    /// Restores a version; by default the last version of a removed entry.
    func restore(_ revision: Revision?, _ remote: any Remote) async throws -> Metadata {
        let history = "see \(ShellWord.command("byteclub \(kind)s history", name))"
        var chosen = revision
        if chosen == nil {
            let versions = try await list(remote, limit: Self.most)
            guard versions.first?.isDeleted == true else {
                throw Failure(.usage, "'\(name)' exists; name the version to restore, \(history)")
            }
            chosen = versions.first { !$0.isDeleted }?.rev
        }
        guard let chosen else { throw Failure(.noInput, "no version of '\(name)' is left") }
        do {
            return try await remote.restore(path, to: chosen)
        } catch {
            guard RevisionArgument.isMissing(chosen, error) else { throw error }
            throw Failure(.noInput, "no version \(chosen) of '\(name)'; \(history)")
        }
    }
}

/// The text of a note, in memory.
enum NoteContent {
    /// The most bytes of a note for commands; larger files can be synced.
    static let limit = 64 << 20

    /// Reads a note's text from the server; nil when there is no such note.
    static func fetch(
        _ path: RemotePath, revision: Revision? = nil, limit: Int = limit, _ remote: any Remote
    ) async throws -> (bytes: [UInt8], metadata: Metadata)? {
        do {
            return try await remote.content(at: path, revision: revision, range: nil, limit: limit)
        } catch {
            if let revision, RevisionArgument.isMissing(revision, error) { return nil }
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}
