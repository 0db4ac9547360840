import ByteClubCore

/// Deletes files, never folders, if their versions are unchanged since they were read.
enum EntryRemoval {
    /// Deletes a file.
    static func remove(_ path: RemotePath, below folder: RemotePath, kind: String, _ remote: any Remote) async throws
        -> Metadata
    {
        let name = path.name(below: folder)
        let current = try await file(path, named: name, kind: kind, remote)
        do {
            return try await remote.delete(path, ifUnchangedSince: current.rev)
        } catch {
            guard error.code == .conflict else { throw error }
            throw Failure(
                .tryAgain, "'\(name)' was just changed by somebody else and was kept; check it and try again")
        }
    }

    /// The file at a path.
    ///
    /// - Throws: A ``Failure`` with the `name` when there is none, or a folder.
    static func file(
        _ path: RemotePath, named name: String, kind: String, _ remote: any Remote
    ) async throws -> Metadata {
        guard let current = try await present(path, remote) else { throw EntryPath.missing(kind, name) }
        if current.isFolder { throw EntryPath.folder(kind, name) }
        return current
    }

    /// The entry at a path; nil when there is none.
    static func present(_ path: RemotePath, _ remote: any Remote) async throws -> Metadata? {
        do {
            let entry = try await remote.metadata(at: path)
            return entry.isDeleted ? nil : entry
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}

/// The deleted entries; as JSON an array of ``EntryObject``s.
struct RemovedEntries: CommandResult {
    var entries: [Metadata]
    /// The folder that names are relative to.
    var folder: RemotePath

    func text(_ style: TextStyle) -> String {
        entries.map { Failure.line("removed '\($0.path.name(below: folder))'") }.joined(separator: "\n")
    }

    func encode(to encoder: any Encoder) throws { try entries.map { EntryObject($0) }.encode(to: encoder) }
}

extension Context {
    /// Deletes several entries, and reports failures at the end; stops only when all others would fail for the same
    /// reason.
    ///
    /// An entry's `companion` is deleted with it, if there is one.
    func remove(
        _ paths: [RemotePath], below folder: RemotePath, kind: String, _ login: Login, json: Bool,
        companion: @escaping @Sendable (RemotePath) -> RemotePath? = { _ in nil }
    ) async throws {
        let outcome = try await withRemote(login) { remote in
            var outcome = BatchOutcome<Metadata>()
            for (index, path) in paths.enumerated() {
                var rest = paths.count - index
                do {
                    // Read before the deletion, so that a caption written in the meantime is kept.
                    var along: Metadata?
                    if let place = companion(path) { along = try await EntryRemoval.present(place, remote) }
                    outcome.done.append(try await EntryRemoval.remove(path, below: folder, kind: kind, remote))
                    rest -= 1
                    guard let along, !along.isFolder else { continue }
                    do {
                        outcome.done.append(try await remote.delete(along.path, ifUnchangedSince: along.rev))
                    } catch let error as RemoteError where error.code == .notFound {
                    } catch let error as RemoteError where error.code == .conflict {
                        note("'\(along.path.name)' was just changed by somebody else and was kept")
                    }
                } catch {
                    try Task.checkCancellation()
                    let failure = Failure(error)
                    if failure.endsBatch {
                        outcome.end(failure, rest: rest, kind, not: "removed")
                        break
                    }
                    outcome.failures.append(failure)
                }
            }
            return outcome
        }
        try print(RemovedEntries(entries: outcome.done, folder: folder), json: json)
        try outcome.finish(self)
    }
}

/// Moves entries to where nothing is.
enum EntryMove {
    /// Moves an entry.
    ///
    /// - Throws: A ``Failure`` when the entry is missing, the target exists, or a folder would move into itself; else
    ///   errors of the server.
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

    /// Fails when a path has an entry other than the one to be moved there.
    static func checkFree(
        _ target: RemotePath, for path: RemotePath, below folder: RemotePath, _ remote: any Remote
    ) async throws {
        guard target.key != path.key, let there = try await EntryRemoval.present(target, remote) else { return }
        let kind = there.isFolder ? "folder" : there.isPhoto ? "photo" : "note"
        throw Failure(
            .cannotCreate, "the \(kind) '\(Failure.line(target.name(below: folder)))' already exists")
    }
}
