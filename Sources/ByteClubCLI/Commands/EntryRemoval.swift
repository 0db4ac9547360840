import ByteClubCore

/// Deletes files by name, never folders, and only the version that was looked at.
enum EntryRemoval {
    /// Deletes what is there.
    static func remove(_ path: RemotePath, kind: String, _ remote: any Remote) async throws -> Metadata {
        let current: Metadata
        do {
            current = try await remote.metadata(at: path)
        } catch {
            guard error.code == .notFound else { throw error }
            throw EntryPath.missing(kind, path.name)
        }
        if current.isDeleted { throw EntryPath.missing(kind, path.name) }
        if current.isFolder { throw Failure(.badData, "'\(path.name)' is a folder, not a \(kind)") }
        do {
            return try await remote.delete(path, ifUnchangedSince: current.rev)
        } catch {
            guard error.code == .conflict else { throw error }
            throw Failure(
                .tryAgain, "'\(path.name)' was changed by somebody just now and is kept; look at it and try again")
        }
    }
}

/// What a deletion did; as JSON an array of the protocol's metadata objects.
struct RemovedEntries: CommandResult {
    var entries: [Metadata]

    func text(_ style: TextStyle) -> String {
        entries.map { Failure.line("removed '\($0.path.name)'") }.joined(separator: "\n")
    }

    func encode(to encoder: any Encoder) throws { try entries.encode(to: encoder) }
}

extension Context {
    /// Deletes each of several entries; failures are reported and do not stop the others.
    func remove(_ paths: [RemotePath], kind: String, _ login: Login, json: Bool) async throws {
        let outcome = try await withRemote(login) { remote in
            var outcome = BatchOutcome<Metadata>()
            for path in paths {
                do {
                    outcome.done.append(try await EntryRemoval.remove(path, kind: kind, remote))
                } catch {
                    try Task.checkCancellation()
                    outcome.failures.append(Failure(error))
                }
            }
            return outcome
        }
        try print(RemovedEntries(entries: outcome.done), json: json)
        try outcome.finish(self)
    }
}
