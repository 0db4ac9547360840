public import ByteClubCore

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
