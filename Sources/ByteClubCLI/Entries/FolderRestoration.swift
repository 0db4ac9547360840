import ByteClubCore

/// Restores files on the server to their state at a moment, each as a new version.
///
/// Replaced and deleted versions stay in the history. Folders are processed one after the other, which bounds memory by
/// the largest folder.
struct FolderRestoration: Sendable {
    /// The outcome for one file.
    enum Outcome: Hashable, Sendable {
        /// Not changed since the moment.
        case unchanged
        /// Changed or deleted since; this is the new current version.
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
    /// Whether to delete files that were added later.
    let deletesNewer: Bool
    /// Called with the outcome of each file, one after the other.
    let report: @Sendable (RemotePath, Outcome) throws -> Void

    /// Concurrent requests.
    private static let width = 8
    /// The number of versions to request first; most files have few.
    private static let firstVersions = 50

    /// Restores a file, or a folder and everything below it.
    ///
    /// - Throws: `notFound` when there never was such an entry; errors after which no other file can succeed.
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
            // The contents of a folder that was deleted before the moment were deleted with it.
            rest += sorted.filter { $0.isFolder && !($0.isDeleted && isOld($0)) }.map(\.path).reversed()
        }
    }

    /// Restores some files concurrently, and reports them in order.
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

    /// A file's version at the moment; nil when it did not exist.
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

    /// Throws errors that would recur for every other file.
    private func pass(on error: any Error) throws {
        if error is CancellationError || error is Output.BrokenPipe { throw error }
        guard let error = error as? RemoteError else { return }
        if error.isOfRole || [.cancelled, .unauthorized, .unreachable, .overQuota].contains(error.code) { throw error }
    }
}
