public import ByteClubCore
import ByteClubRemotes
import TestSupport

extension MemoryRemote: TextSearchRemote {
    /// All powers but links.
    public func powers() async throws(RemoteError) -> RemotePowers {
        RemotePowers(
            conditionalDelete: true, contentHash: true, longPoll: true, orderedRevisions: true, sync: self,
            bulkChunks: bulkChunks,
            history: self, textSearch: self)
    }

    /// Describes the member.
    public func account() async throws(RemoteError) -> Account {
        let author = author
        return try await perform(.account) { () throws(RemoteError) in
            Account(
                uid: author, displayName: MemoryTree.name(author) ?? "",
                quotaInfo: Account.Quota(quota: 1 << 50, normal: 0, shared: 0),
                extensions: Account.Extensions(
                    version: 1, conditionalDelete: true, sync: true, history: true, contentSearch: true,
                    bulkChunks: bulkChunks))
        }
    }

    /// Describes one entry.
    public func metadata(at path: RemotePath) async throws(RemoteError) -> Metadata {
        try await perform(.metadata, path) { () throws(RemoteError) in try read { try $0.metadata(path) } }
    }

    /// Describes a folder with its children.
    public func list(
        _ path: RemotePath, unless hash: String?, includeDeleted: Bool
    ) async throws(RemoteError) -> Metadata? {
        try await perform(.list, path) { () throws(RemoteError) in
            try read { try $0.list(path, unless: hash, includeDeleted: includeDeleted, limit: 25_000) }
        }
    }

    /// The bytes of a file or of a part of it.
    public func content(
        at path: RemotePath, revision: Revision?, range: Range<Int64>?, limit: Int
    ) async throws(RemoteError) -> (bytes: [UInt8], metadata: Metadata) {
        try await perform(.content, path) { () throws(RemoteError) in
            let (bytes, metadata) = try file(path, revision)
            guard let range else {
                guard bytes.count <= limit else { throw RemoteError.tooLarge(path, Int64(limit)) }
                return (bytes, metadata)
            }
            guard range.lowerBound >= 0, !range.isEmpty, range.lowerBound < Int64(bytes.count) else {
                throw RemoteError(status: 416, message: "'\(path)' has no bytes in the range \(range)")
            }
            let part = bytes[Int(range.lowerBound)..<Int(min(range.upperBound, Int64(bytes.count)))]
            guard part.count <= limit else { throw RemoteError.tooLarge(path, Int64(limit)) }
            return (Array(part), metadata)
        }
    }

    /// Writes a file's bytes to a new local file, always from the first one on.
    public func download(
        _ path: RemotePath, revision: Revision?, limit: Int64?, to file: String, journal: String?,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata {
        try await perform(.download, path) { () throws(RemoteError) in
            let (bytes, metadata) = try self.file(path, revision)
            if let limit, Int64(bytes.count) > limit { throw RemoteError.tooLarge(path, limit) }
            try DownloadedFile.write(bytes, to: file)
            progress?(TransferProgress(completed: metadata.bytes, total: metadata.bytes))
            return metadata
        }
    }

    /// A smaller picture of a photo, made by the thumbnailer.
    public func thumbnail(
        of path: RemotePath, size: ThumbnailSize, format: ThumbnailImageFormat
    ) async throws(RemoteError) -> (bytes: [UInt8], metadata: Metadata) {
        try await perform(.thumbnail, path) { () throws(RemoteError) in
            let (bytes, metadata) = try file(path, nil)
            guard metadata.hasThumbnail else {
                throw RemoteError(status: 404, message: "Thumbnail of '\(path)' not found")
            }
            guard let picture = thumbnailer?(bytes, size, format) else {
                throw RemoteError(status: 415, message: "'\(path)' cannot be decoded")
            }
            return (picture, metadata)
        }
    }

    /// The entries below a folder whose names match.
    public func search(_ path: RemotePath, query: String, limit: Int) async throws(RemoteError) -> [Metadata] {
        try await perform(.search, path) { () throws(RemoteError) in
            try read { try $0.search(path, query: SearchQuery(query), limit: limit, includeDeleted: false) }
        }
    }

    /// The entries below a folder whose names or texts match.
    public func searchTexts(
        _ path: RemotePath, query: String, limit: Int
    ) async throws(RemoteError) -> TextSearchResults {
        try await perform(.search, path) { () throws(RemoteError) in
            let tree = tree
            return try read {
                try $0.searchTexts(path, query: TextQuery(query), includeDeleted: false, limit: limit) { entry in
                    entry.contentHash.flatMap { tree.blob($0) }
                }
            }
        }
    }

    /// A file's versions, newest first.
    public func revisions(
        of path: RemotePath, before revision: Revision?, limit: Int
    ) async throws(RemoteError) -> [Metadata] {
        try await perform(.revisions, path) { () throws(RemoteError) in
            let before = try Self.version(revision)
            return try read { try $0.revisions(path, before: before?.number, limit: limit) }
        }
    }

    private func file(_ path: RemotePath, _ revision: Revision?) throws(RemoteError) -> ([UInt8], Metadata) {
        let version = try Self.version(revision)
        let (entry, metadata) = try read { folder in
            let entry = try folder.file(path, revision: version)
            return (entry, try folder.describe(entry))
        }
        guard let hash = entry.contentHash, let bytes = tree.blob(hash) else {
            throw RemoteError(.serverFault, "the content of '\(path)' is gone")
        }
        return (bytes, metadata)
    }

    /// A version as the folder counts it.
    static func version(_ revision: Revision?) throws(RemoteError) -> JournalRevision? {
        guard let revision else { return nil }
        return try version(revision)
    }

    /// The journal's version of a revision; other texts are refused as by the server.
    static func version(_ revision: Revision) throws(RemoteError) -> JournalRevision {
        guard let version = JournalRevision(revision) else { throw RemoteError(.badRequest, "'rev': not a rev") }
        return version
    }
}

extension MemoryRemote {
    /// The changes after a cursor, a page at a time.
    public func delta(after cursor: String?, prefix: RemotePath) async throws(RemoteError) -> DeltaPage {
        try await perform(.delta) { () throws(RemoteError) in
            var position: DeltaCursor?
            if let cursor {
                let known = try tree.open(cursor, member: author)
                guard prefix.key == known.prefix || prefix.key.isBelow(known.prefix) else {
                    throw RemoteError(.badCursor, "the cursor is for '\(known.prefix)', not for '\(prefix)'")
                }
                position = known
            }
            let start = DeltaCursor(epoch: tree.epoch, member: author, prefix: prefix.key)
            var (page, next) = try read { try $0.delta(after: position, start: start, limit: pageSize) }
            page.cursor = tree.seal(next)
            return page
        }
    }

    /// Waits for a change; accepts shorter times than a server does.
    public func waitForChanges(after cursor: String, timeout: Duration) async throws(RemoteError) -> LongpollResult {
        try await perform(.waitForChanges) { () async throws(RemoteError) in
            let position = try tree.open(cursor, member: author)
            let deadline = ContinuousClock.now.advanced(by: timeout)
            while true {
                let (isThere, last) = try read { folder in
                    let changes = try folder.state.changes(
                        after: position.revision, prefix: position.prefix, includeDeleted: true, limit: 1)
                    return (!changes.isEmpty, try folder.state.lastRevision())
                }
                if isThere { return LongpollResult(changes: true) }
                if ContinuousClock.now >= deadline { return LongpollResult(changes: false) }
                await tree.change(after: last, until: deadline)
                try RemoteError.checkCancellation()
            }
        }
    }
}

extension MemoryRemote {
    /// Stores content as one atomic change.
    public func put(
        _ content: Content, at path: RemotePath, modified: FileTime?, executable: Bool?, condition: WriteCondition,
        policy: ConflictPolicy, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata {
        try await perform(.put, path) { () throws(RemoteError) in
            let bytes: [UInt8]
            switch content {
            case .bytes(let given): bytes = given
            case .file(let name, _): bytes = try OpenFile(reading: name).readAll()
            }
            let hash = ContentHasher.hash(bytes)
            let size = Int64(bytes.count)
            progress?(TransferProgress(completed: size, total: size))
            return try write(blobs: [(hash, bytes)]) {
                try $0.put(
                    path, bytes: size, hash: hash, modified: modified, executable: executable, condition: condition,
                    policy: policy)
            }
        }
    }

    /// Makes a new version with an old one's content.
    public func restore(_ path: RemotePath, to revision: Revision) async throws(RemoteError) -> Metadata {
        try await perform(.restore, path) { () throws(RemoteError) in
            let version = try Self.version(revision)
            return try write { try $0.restore(path, to: version) }
        }
    }

    /// Makes a folder and its missing parents.
    public func createFolder(_ path: RemotePath) async throws(RemoteError) -> Metadata {
        try await perform(.createFolder, path) { () throws(RemoteError) in try write { try $0.createFolder(path) } }
    }

    /// Deletes an entry with all below it.
    public func delete(_ path: RemotePath, ifUnchangedSince seen: Revision?) async throws(RemoteError) -> Metadata {
        try await perform(.delete, path) { () throws(RemoteError) in
            let version = try Self.version(seen)
            return try write { try $0.delete(path, seen: version) }
        }
    }

    /// Moves an entry with all below it.
    public func move(_ path: RemotePath, to destination: RemotePath) async throws(RemoteError) -> Metadata {
        try await perform(.move, path) { () throws(RemoteError) in try write { try $0.move(path, to: destination) } }
    }

    /// Copies an entry with all below it.
    public func copy(_ path: RemotePath, to destination: RemotePath) async throws(RemoteError) -> Metadata {
        try await perform(.copy, path) { () throws(RemoteError) in try write { try $0.copy(path, to: destination) } }
    }
}
