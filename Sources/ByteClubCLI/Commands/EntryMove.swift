import ByteClubCore

/// Moves entries to where nothing is.
enum EntryMove {
    /// Moves what is at a path.
    ///
    /// - Throws: A ``Failure`` when nothing is there, when something is at the target, and for a folder that is to go
    ///   into itself; what else the server says.
    static func move(
        _ path: RemotePath, to target: RemotePath, below folder: RemotePath, kind: String, _ remote: any Remote
    ) async throws -> Metadata {
        do { return try await remote.move(path, to: target) } catch {
            let name = path.name(below: folder)
            if error.code == .notFound { throw EntryPath.missing(kind, name) }
            guard error.code == .forbidden, !error.isOfRole else { throw error }
            if target.key.isBelow(path.key) {
                throw Failure(.cannotCreate, "'\(Failure.line(name))' cannot be moved into itself")
            }
            try await checkFree(target, for: path, below: folder, remote)
            throw error
        }
    }

    /// Fails when another entry than the one that is to go there is at a path.
    static func checkFree(
        _ target: RemotePath, for path: RemotePath, below folder: RemotePath, _ remote: any Remote
    ) async throws {
        guard target.key != path.key, let there = try await EntryRemoval.present(target, remote) else { return }
        let kind = there.isFolder ? "folder" : there.isPhoto ? "photo" : "note"
        throw Failure(
            .cannotCreate, "the \(kind) '\(Failure.line(target.name(below: folder)))' already exists")
    }
}
