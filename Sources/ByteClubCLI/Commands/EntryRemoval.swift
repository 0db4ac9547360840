import ByteClubCore

/// Deletes files by name, never folders, and only the version that was looked at.
enum EntryRemoval {
    /// Deletes what is there.
    static func remove(_ path: RemotePath, below folder: RemotePath, kind: String, _ remote: any Remote) async throws
        -> Metadata
    {
        let name = path.name(below: folder)
        guard let current = try await present(path, remote) else { throw EntryPath.missing(kind, name) }
        if current.isFolder { throw Failure(.badData, "'\(name)' is a folder, not a \(kind)") }
        do {
            return try await remote.delete(path, ifUnchangedSince: current.rev)
        } catch {
            guard error.code == .conflict else { throw error }
            throw Failure(
                .tryAgain, "'\(name)' was just changed by somebody else and was kept; check it and try again")
        }
    }

    /// What is at a path; nil when nothing is.
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

/// What a deletion did; as JSON an array of ``EntryObject``s.
struct RemovedEntries: CommandResult {
    var entries: [Metadata]
    /// The folder below which they are named.
    var folder: RemotePath

    func text(_ style: TextStyle) -> String {
        entries.map { Failure.line("removed '\($0.path.name(below: folder))'") }.joined(separator: "\n")
    }

    func encode(to encoder: any Encoder) throws { try entries.map { EntryObject($0) }.encode(to: encoder) }
}

extension Context {
    /// Deletes each of several entries; failures are reported and do not stop the others, which would not fail, too.
    ///
    /// What `companion` names goes along with an entry, where it is there.
    func remove(
        _ paths: [RemotePath], below folder: RemotePath, kind: String, _ login: Login, json: Bool,
        companion: @escaping @Sendable (RemotePath) -> RemotePath? = { _ in nil }
    ) async throws {
        let outcome = try await withRemote(login) { remote in
            var outcome = BatchOutcome<Metadata>()
            for (index, path) in paths.enumerated() {
                var rest = paths.count - index
                do {
                    // As it is before the entry goes: what somebody says of it meanwhile stays.
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
