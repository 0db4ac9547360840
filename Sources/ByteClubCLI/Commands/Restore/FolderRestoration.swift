import ByteClubCore

/// Brings files of the server back to what they were at a moment, each as a new version.
///
/// Nothing is lost: what is replaced or deleted stays in the history. Folders are walked one after the other, and what
/// is known of one is forgotten before the next.
struct FolderRestoration: Sendable {
    /// What became of a file.
    enum Outcome: Hashable, Sendable {
        /// It is as it was.
        case unchanged
        /// It was changed or deleted since; this version is the current one again.
        case restored(Revision)
        /// It came later, and was deleted.
        case deleted
        /// It came later, and was left.
        case newer
        /// It could not be brought back.
        case failed(Failure)
    }

    let remote: any Remote
    /// The moment, in seconds since 1970.
    let moment: Int64
    /// Whether nothing is changed.
    let isDryRun: Bool
    /// Whether what came later is deleted.
    let deletesNewer: Bool
    /// Told of each file in turn.
    let report: @Sendable (RemotePath, Outcome) throws -> Void

    /// How many files are asked about at once.
    private static let width = 8
    /// How many of a file's versions are asked for first; most files have few.
    private static let firstVersions = 50

    /// Restores a file, or a folder with all below it.
    ///
    /// - Throws: `notFound` when there never was such an entry; what ends every further try too.
    func run(_ path: RemotePath) async throws {
        let entry = try await remote.metadata(at: path)
        guard entry.isFolder else { return try await settle([entry][...]) }
        var rest = [path]
        while let next = rest.popLast() {
            let listed: Metadata?
            do {
                listed = try await remote.list(next, unless: nil, includeDeleted: true)
            } catch {
                try pass(on: error)
                try report(next, .failed(Failure(error)))
                continue
            }
            guard let contents = listed?.contents else {
                let failure = Failure(.tryAgain, "this server does not list what was in the deleted folder")
                try report(next, .failed(failure))
                continue
            }
            let sorted = ListingOrder.name.sorted(contents, below: next)
            var files = sorted.filter { !$0.isFolder }[...]
            while !files.isEmpty {
                try await settle(files.prefix(Self.width))
                files = files.dropFirst(Self.width)
            }
            // What a folder had that was gone by then was gone too.
            rest += sorted.filter { $0.isFolder && !($0.isDeleted && isOld($0)) }.map(\.path).reversed()
        }
    }

    /// Restores some files at once, and tells of them in their order.
    private func settle(_ files: ArraySlice<Metadata>) async throws {
        let outcomes = try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
            for (index, file) in files.enumerated() {
                group.addTask {
                    do { return (index, try await settle(file)) } catch {
                        try pass(on: error)
                        return (index, .failed(Failure(error)))
                    }
                }
            }
            var outcomes: [Int: Outcome] = [:]
            for try await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
        for (index, file) in files.enumerated() {
            if let outcome = outcomes[index] { try report(file.path, outcome) }
        }
    }

    private func settle(_ file: Metadata) async throws -> Outcome {
        if isOld(file) { return .unchanged }
        guard let past = try await version(of: file.path), !past.isDeleted, let revision = past.rev else {
            if file.isDeleted { return .unchanged }
            guard deletesNewer else { return .newer }
            if !isDryRun { _ = try await remote.delete(file.path, ifUnchangedSince: file.rev) }
            return .deleted
        }
        if !file.isDeleted, let hash = past.contentHash, hash == file.contentHash { return .unchanged }
        if !isDryRun { _ = try await remote.restore(file.path, to: revision) }
        return .restored(revision)
    }

    /// The version that a file had at the moment; nil when it had none.
    private func version(of path: RemotePath) async throws -> Metadata? {
        var last: Revision?
        while true {
            let limit = last == nil ? Self.firstVersions : EntryVersions.most
            let versions = try await remote.revisions(of: path, before: last, limit: limit)
            if let past = versions.first(where: isOld) { return past }
            guard versions.count >= limit, let oldest = versions.last?.rev else { return nil }
            if oldest == last {
                throw Failure(.tryAgain, "it has more versions since then than this server lists")
            }
            last = oldest
        }
    }

    private func isOld(_ entry: Metadata) -> Bool { entry.modified.map { $0.seconds <= moment } ?? false }

    /// Throws errors that would come again for every other file.
    private func pass(on error: any Error) throws {
        if error is CancellationError || error is Output.BrokenPipe { throw error }
        guard let error = error as? RemoteError else { return }
        if error.isOfRole || [.cancelled, .unauthorized, .unreachable, .overQuota].contains(error.code) { throw error }
    }
}
