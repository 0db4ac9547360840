public import ByteClubCore

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
            try LocalFile.write(bytes, to: file)
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

    /// A version as the folder counts it; what is none is refused as the server does.
    static func version(_ revision: Revision) throws(RemoteError) -> JournalRevision {
        guard let version = JournalRevision(revision) else { throw RemoteError(.badRequest, "'rev': not a rev") }
        return version
    }
}
