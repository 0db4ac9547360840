import ByteClubCore
import Glibc
import Synchronization

/// Parts of large contents that wait for the write that names them: files named by their hashes, in a directory for each
/// member who sent them.
///
/// What is there is whole and synced. A chunk that nobody asked for in a day goes away. How many bytes a member has here
/// is counted from the files, once for each process.
final class ChunkStore: Sendable {
    /// The most bytes of a chunk: 4 MiB, so that its hash is that of one block.
    static let maximumBytes = ContentHash.blockSize
    /// How long a chunk is kept after it was sent or asked for, in seconds: a day.
    static let lifetime: Int64 = 24 * 3600

    private let root: String
    private let files: FileBlobStore
    /// The bytes of each member's chunks, which only change together with the files; nil before they are counted.
    private let waiting = Mutex<[Int64: Int64]?>(nil)

    /// Makes the directory when it is missing; new chunks are written where other contents are.
    init(directory: String, files: FileBlobStore) throws {
        root = directory + "/chunks"
        self.files = files
        if try Directory.make(root) { try Directory.sync(directory) }
    }

    /// What a chunk counts for: its bytes, or the least that a file takes on a disk.
    static func weight(_ bytes: Int64) -> Int64 { max(bytes, 4096) }

    /// Those of some chunks that a member has not sent; the others are kept for another day.
    func missing(of hashes: [ContentHash], from member: Int64) async throws -> [ContentHash] {
        return try await ContentPipeline.onDisk {
            let missing = hashes.filter { !Directory.touch(self.path(of: $0, from: member)) }
            if missing.count < hashes.count { try Directory.sync(self.folder(of: member)) }
            return missing
        }
    }

    /// Keeps a member's chunk; one that is there already stays as it is.
    func add(_ bytes: [UInt8], hash: ContentHash, from member: Int64) async throws {
        try await ContentPipeline.onDisk {
            let path = self.path(of: hash, from: member)
            // Who brought it may not have come to the sync yet.
            if Directory.touch(path) { return try Directory.sync(self.folder(of: member)) }
            try self.files.reserve.check()
            let new = self.files.staging + "/" + Secret.text(bytes: 16)
            let staged = StagedFile(path: new)
            let file = try Descriptor(path: new, flags: O_WRONLY | O_CREAT | O_EXCL)
            unsafe try bytes.withUnsafeBytes { unsafe try file.write($0, at: 0) }
            try file.sync()
            if try Directory.make(self.folder(of: member)) { try Directory.sync(self.root) }
            let number = self.waiting.withLock { waiting in
                let number = Directory.moveNew(new, to: path)
                if number == 0 { waiting?[member, default: 0] += Self.weight(Int64(bytes.count)) }
                return number
            }
            switch number {
            case 0: staged.setMoved(true)
            case EEXIST: break
            default: throw StorageError(errno: number, "cannot keep a chunk")
            }
            try Directory.sync(self.folder(of: member))
        }
    }

    /// The bytes that a member's chunks make together; nil when one of them is missing.
    func length(of hashes: [ContentHash], from member: Int64) async throws -> Int64? {
        try await ContentPipeline.onDisk {
            var sum: Int64 = 0
            for hash in hashes {
                guard let length = Directory.fileLength(self.path(of: hash, from: member)) else { return nil }
                sum += length
            }
            return sum
        }
    }

    /// Puts a member's chunks together as one content; nil when one of them is missing or they do not have this length.
    ///
    /// - Throws: `CancellationError` between two chunks when nobody waits for the content any more.
    func assemble(
        _ hashes: [ContentHash], bytes: Int64, from member: Int64, in blobs: any BlobStore
    ) async throws -> StagedContent? {
        let paths = hashes.map { path(of: $0, from: member) }
        let lengths = try await ContentPipeline.onDisk { paths.map { Directory.fileLength($0) } }
        guard lengths.allSatisfy({ $0 != nil }), lengths.reduce(0, { $0 + ($1 ?? 0) }) == bytes else { return nil }
        let writer = try await blobs.writer()
        do {
            for (path, length) in zip(paths, lengths) {
                try Task.checkCancellation()
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

    /// The bytes of each member's chunks.
    func waitingBytes() throws -> [Int64: Int64] {
        try waiting.withLock { waiting in
            if let waiting { return waiting }
            var counted: [Int64: Int64] = [:]
            for member in try members() {
                for name in try Directory.names(in: folder(of: member)) {
                    let length = Directory.fileLength(folder(of: member) + "/" + name) ?? 0
                    counted[member, default: 0] += Self.weight(length)
                }
            }
            waiting = counted
            return counted
        }
    }

    /// What a member's chunks with these hashes count for, each once.
    func bytes(of hashes: [ContentHash], from member: Int64) -> Int64 {
        Set(hashes).reduce(0) { sum, hash in
            sum + (Directory.fileLength(path(of: hash, from: member)).map(Self.weight) ?? 0)
        }
    }

    /// Removes a member's chunks.
    func remove(_ hashes: [ContentHash], from member: Int64) {
        for hash in hashes { remove(path(of: hash, from: member), of: member) }
    }

    /// Removes chunks that a member neither sent nor asked for in the last hour, the oldest first, until they make so many
    /// bytes; tells how many they made.
    func giveUp(_ bytes: Int64, from member: Int64) throws -> Int64 {
        guard bytes > 0, try members().contains(member) else { return 0 }
        let oldest = Int64(time(nil)) - SQLiteStore.idleTime
        let idle = try Directory.names(in: folder(of: member)).compactMap { name -> (path: String, modified: Int64)? in
            let path = folder(of: member) + "/" + name
            guard let modified = Directory.modified(path), modified < oldest else { return nil }
            return (path, modified)
        }
        var freed: Int64 = 0
        for chunk in idle.sorted(by: { $0.modified < $1.modified }) where freed < bytes {
            freed += remove(chunk.path, of: member)
        }
        return freed
    }

    /// Removes chunks that nobody asked for in a day; part of the server's housekeeping.
    func removeExpired() throws {
        let oldest = Int64(time(nil)) - Self.lifetime
        let members = try members()
        for member in members {
            for name in try Directory.names(in: folder(of: member)) {
                let path = folder(of: member) + "/" + name
                if let modified = Directory.modified(path), modified < oldest { remove(path, of: member) }
            }
        }
        // Earlier versions kept chunks that belonged to nobody; whoever sent one sends it again.
        let folders = Set(members.map(String.init))
        for name in try Directory.names(in: root) where !folders.contains(name) { unsafe unlink(root + "/" + name) }
    }

    /// Removes a file and what it counts for, together; tells what that was.
    @discardableResult
    private func remove(_ path: String, of member: Int64) -> Int64 {
        waiting.withLock { waiting in
            guard let length = Directory.fileLength(path), unsafe unlink(path) == 0 else { return 0 }
            waiting?[member, default: 0] -= Self.weight(length)
            return Self.weight(length)
        }
    }

    /// The members who have a directory.
    private func members() throws -> [Int64] { try Directory.names(in: root).compactMap { Int64($0) } }

    private func folder(of member: Int64) -> String { root + "/\(member)" }

    private func path(of hash: ContentHash, from member: Int64) -> String {
        folder(of: member) + "/" + hash.description
    }
}
