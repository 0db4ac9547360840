import ByteClubCore
import Glibc

/// Parts of large contents that wait for the write that names them: files named by their hashes.
///
/// What is there is whole and synced. A chunk that nobody asked for in 48 hours goes away.
final class ChunkStore: Sendable {
    /// The most bytes of a chunk: 4 MiB, so that its hash is that of one block.
    static let maximumBytes = ContentHash.blockSize
    /// How long a chunk is kept after it was sent or asked for, in seconds: 48 hours.
    static let lifetime: Int64 = 48 * 3600

    private let root: String
    private let files: FileBlobStore

    /// Makes the directory when it is missing; new chunks are written where other contents are.
    init(directory: String, files: FileBlobStore) throws {
        root = directory + "/chunks"
        self.files = files
        if try Directory.make(root) { try Directory.sync(directory) }
    }

    /// Those of some chunks that are not there; the others are kept for another 48 hours.
    func missing(of hashes: [ContentHash]) async throws -> [ContentHash] {
        return try await ContentPipeline.onDisk {
            let missing = hashes.filter { !Directory.touch(self.path(of: $0)) }
            if missing.count < hashes.count { try Directory.sync(self.root) }
            return missing
        }
    }

    /// Keeps a chunk; one that is there already stays as it is.
    func add(_ bytes: [UInt8], hash: ContentHash) async throws {
        try await ContentPipeline.onDisk {
            let path = self.path(of: hash)
            // Who brought it may not have come to the sync yet.
            if Directory.touch(path) { return try Directory.sync(self.root) }
            try self.files.reserve.check()
            let new = self.files.staging + "/" + Secret.text(bytes: 16)
            let staged = StagedFile(path: new)
            let file = try Descriptor(path: new, flags: O_WRONLY | O_CREAT | O_EXCL)
            unsafe try bytes.withUnsafeBytes { unsafe try file.write($0, at: 0) }
            try file.sync()
            switch Directory.moveNew(new, to: path) {
            case 0: staged.setMoved(true)
            case EEXIST: break
            case let number: throw StorageError(errno: number, "cannot keep a chunk")
            }
            try Directory.sync(self.root)
        }
    }

    /// Puts chunks together as one content; nil when one of them is missing or they do not have this length.
    func assemble(_ hashes: [ContentHash], bytes: Int64, in blobs: any BlobStore) async throws -> StagedContent? {
        let paths = hashes.map { path(of: $0) }
        let lengths = try await ContentPipeline.onDisk { paths.map { Directory.fileLength($0) } }
        guard lengths.allSatisfy({ $0 != nil }), lengths.reduce(0, { $0 + ($1 ?? 0) }) == bytes else { return nil }
        let writer = try await blobs.writer()
        do {
            for (path, length) in zip(paths, lengths) {
                let part = try await ContentPipeline.onDisk {
                    try Descriptor(path: path, flags: O_RDONLY).read(Int(length ?? 0), at: 0)
                }
                try await writer.write(part)
            }
            return try await writer.finish()
        } catch {
            await writer.discard()
            throw error
        }
    }

    /// Removes chunks that nobody asked for in 48 hours; part of the server's housekeeping.
    func removeExpired() throws {
        let oldest = Int64(time(nil)) - Self.lifetime
        for name in try Directory.names(in: root) {
            let path = root + "/" + name
            if let modified = Directory.modified(path), modified < oldest { unsafe unlink(path) }
        }
    }

    private func path(of hash: ContentHash) -> String { root + "/" + hash.description }
}
