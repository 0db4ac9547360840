import ByteClubCore

/// The versions that the server keeps of a note or a photo.
struct EntryVersions: Sendable {
    /// The most versions that a server tells of.
    static let most = 1000

    /// The entry.
    let path: RemotePath
    /// The folder below which it is named.
    let folder: RemotePath
    /// `note` or `photo`.
    let kind: String

    private var name: String { path.name(below: folder) }

    /// The versions, newest first.
    func list(_ remote: any Remote, limit: Int) async throws -> [Metadata] {
        do {
            return try await remote.revisions(of: path, limit: limit)
        } catch {
            guard error.code == .notFound else { throw error }
            throw EntryPath.missing(kind, name)
        }
    }

    /// Makes a version the current one again; of a removed entry the last one that was there, when none is named.
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
