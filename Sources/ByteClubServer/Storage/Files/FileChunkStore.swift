import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc
import Synchronization

/// Chunks as files named by their hashes, in a directory for each member who sent them.
///
/// A file's time is when it was last sent or asked for. How many bytes a member has here is counted from the files,
/// once for each process.
final class FileChunkStore: ChunkStore {
    private let root: String
    private let files: FileBlobStore
    private let now: @Sendable () -> APIDate
    /// The bytes of each member's chunks, which only change together with the files; nil before they are counted.
    private let waiting = Mutex<[Int64: Int64]?>(nil)

    /// Makes the directory when it is missing; new chunks are written where other contents are.
    init(directory: String, files: FileBlobStore, now: @escaping @Sendable () -> APIDate) throws {
        root = directory + "/chunks"
        self.files = files
        self.now = now
        if try Directory.make(root) { try Directory.sync(directory) }
    }

    /// A chunk's bytes, or the least that a file needs on a disk.
    func weight(_ bytes: Int64) -> Int64 { max(bytes, 4096) }

    func missing(of hashes: [ContentHash], from member: Int64) async throws -> [ContentHash] {
        let now = now().seconds
        return try await ContentPipeline.onDisk {
            let missing = hashes.filter { !Directory.touch(self.path(of: $0, from: member), at: now) }
            if missing.count < hashes.count { try Directory.sync(self.folder(of: member)) }
            return missing
        }
    }

    func add(_ bytes: [UInt8], hash: ContentHash, from member: Int64) async throws {
        let now = now().seconds
        try await ContentPipeline.onDisk {
            let path = self.path(of: hash, from: member)
            // The client that sent it may not have reached the sync yet.
            if Directory.touch(path, at: now) { return try Directory.sync(self.folder(of: member)) }
            let (file, staged) = try self.write(bytes)
            try file.syncData()
            try self.makeFolder(of: member)
            try self.place(staged, as: hash, Int64(bytes.count), of: member, at: now)
            try Directory.sync(self.folder(of: member))
        }
    }

    /// One syncfs(2) covers the bytes of all of them.
    func keep(_ contents: [StagedContent], from member: Int64) async throws {
        if contents.isEmpty { return }
        let now = now().seconds
        try await ContentPipeline.onDisk {
            let staged = try contents.map { content in
                switch content.place {
                case .inline(let bytes): return try self.write(bytes).staged
                case .blob(let blob):
                    guard let file = blob as? StagedFile, file.isTemporary else {
                        throw StorageError(.io, "a chunk was staged by another store than the one that is to keep it")
                    }
                    return file
                }
            }
            try self.makeFolder(of: member)
            try Directory.syncFileSystem(self.files.staging)
            for (content, file) in zip(contents, staged) {
                try self.place(file, as: content.hash, content.bytes, of: member, at: now)
            }
            try Directory.sync(self.folder(of: member))
        }
    }

    /// Writes a chunk that is in memory to the staging folder.
    private func write(_ bytes: [UInt8]) throws -> (file: Descriptor, staged: StagedFile) {
        try files.reserve.check()
        let path = files.staging + "/" + Secret.text(bytes: 16)
        let staged = StagedFile(path: path)
        let file = try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
        try file.write(bytes, at: 0)
        return (file, staged)
    }

    private func makeFolder(of member: Int64) throws {
        if try Directory.make(folder(of: member)) { try Directory.sync(root) }
    }

    /// Gives a file whose bytes are synced its name as a chunk, unless there is one already.
    private func place(
        _ staged: StagedFile, as hash: ContentHash, _ bytes: Int64, of member: Int64, at seconds: Int64
    ) throws {
        let path = path(of: hash, from: member)
        _ = Directory.touch(staged.path, at: seconds)
        let number = waiting.withLock { waiting in
            let number = Directory.moveNew(staged.path, to: path)
            if number == 0 { waiting?[member, default: 0] += weight(bytes) }
            return number
        }
        switch number {
        case 0: staged.setMoved(true)
        case EEXIST: _ = Directory.touch(path, at: seconds)
        default: throw StorageError(errno: number, "cannot keep a chunk")
        }
    }

    /// A chunk keeps its name until its time is over, and the content gets a second one.
    func content(_ hash: ContentHash, from member: Int64) async throws -> StagedContent? {
        let path = path(of: hash, from: member)
        return try await ContentPipeline.onDisk {
            guard let length = Directory.fileLength(path), length > Int64(StagedContent.inlineLimit) else { return nil }
            return StagedContent(
                bytes: length, hash: hash, place: .blob(StagedFile(path: path, isTemporary: false)))
        }
    }

    func chunk(_ hash: ContentHash, from member: Int64) async throws -> [UInt8]? {
        let path = path(of: hash, from: member)
        return try await ContentPipeline.onDisk {
            guard let length = Directory.fileLength(path) else { return nil }
            return try Descriptor(path: path, flags: O_RDONLY).read(Int(length), at: 0)
        }
    }

    func lengths(of hashes: [ContentHash], from member: Int64) async throws -> [Int64?] {
        try await ContentPipeline.onDisk { hashes.map { Directory.fileLength(self.path(of: $0, from: member)) } }
    }

    func waitingBytes() async throws -> [Int64: Int64] {
        try await ContentPipeline.onDisk {
            try self.waiting.withLock { waiting in
                if let waiting { return waiting }
                var counted: [Int64: Int64] = [:]
                for member in try self.members() {
                    for path in try self.paths(of: member) {
                        counted[member, default: 0] += self.weight(Directory.fileLength(path) ?? 0)
                    }
                }
                waiting = counted
                return counted
            }
        }
    }

    func release(_ hashes: [ContentHash], from member: Int64) async throws {
        try await ContentPipeline.onDisk {
            for hash in hashes { SpareChunks.mark(self.path(of: hash, from: member)) }
        }
    }

    func remove(_ hashes: [ContentHash], from member: Int64) async throws {
        try await ContentPipeline.onDisk {
            for hash in hashes { self.remove(self.path(of: hash, from: member), of: member) }
        }
    }

    func giveUp(_ bytes: Int64, from member: Int64) async throws -> Int64 {
        let oldest = now().seconds - WaitingTime.idle
        return try await ContentPipeline.onDisk {
            guard bytes > 0, try self.members().contains(member) else { return 0 }
            let idle = try self.paths(of: member).map { (path: $0, modified: Directory.modified($0) ?? .max) }
            var freed: Int64 = 0
            for chunk in idle.sorted(by: { $0.modified < $1.modified }) where chunk.modified < oldest && freed < bytes {
                freed += self.remove(chunk.path, of: member)
            }
            return freed
        }
    }

    func removeExpired() async throws {
        let oldest = now().seconds - WaitingTime.chunk
        try await ContentPipeline.onDisk {
            let members = try self.members()
            for member in members {
                for path in try self.paths(of: member) {
                    if let modified = Directory.modified(path), modified < oldest { self.remove(path, of: member) }
                }
            }
            // Earlier versions kept chunks without an owner; clients send them again.
            let folders = Set(members.map(String.init))
            for name in try Directory.names(in: self.root) where !folders.contains(name) {
                unsafe unlink(self.root + "/" + name)
            }
        }
    }

    /// Removes a file and its bytes from the count, together; returns how many those were.
    @discardableResult
    private func remove(_ path: String, of member: Int64) -> Int64 {
        waiting.withLock { waiting in
            guard let length = Directory.fileLength(path), unsafe unlink(path) == 0 else { return 0 }
            waiting?[member, default: 0] -= weight(length)
            return weight(length)
        }
    }

    /// The members who have a directory.
    private func members() throws -> [Int64] { try Directory.names(in: root).compactMap { Int64($0) } }

    /// The paths of a member's chunks.
    private func paths(of member: Int64) throws -> [String] {
        let folder = folder(of: member)
        return try Directory.names(in: folder).map { folder + "/" + $0 }
    }

    private func folder(of member: Int64) -> String { root + "/\(member)" }

    private func path(of hash: ContentHash, from member: Int64) -> String {
        folder(of: member) + "/" + hash.description
    }
}

/// Chunks that a write has named: second copies of stored bytes, which are removed when the disk is full.
///
/// Until then they stay for similar contents. The mark is an access time of 0, which is reset when the chunk is sent,
/// asked for or read again; a crash may lose the mark, and the chunk then expires after a day.
struct SpareChunks: Sendable {
    /// How many bytes go at once at least, so that not every write on a full disk looks through the folders.
    private static let least: Int64 = 16 << 20
    /// `UTIME_OMIT` of utimensat(2), which Swift cannot import.
    private static let unchanged = (1 << 30) - 2

    /// The directory with a folder for each member.
    let root: String

    /// Marks the chunk at a path.
    static func mark(_ path: String) {
        let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: unchanged)]
        _ = unsafe utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW)
    }

    /// Removes the oldest ones until so many bytes are free; returns whether there were any.
    func remove(_ bytes: Int64) -> Bool {
        var spare: [(path: String, modified: Int64, bytes: Int64)] = []
        for folder in (try? Directory.names(in: root)) ?? [] {
            for name in (try? Directory.names(in: root + "/" + folder)) ?? [] {
                let path = "\(root)/\(folder)/\(name)"
                guard let status = FileStatus(path, followsLinks: false), status.raw.st_atim.tv_sec == 0 else {
                    continue
                }
                spare.append((path, status.modified, status.size))
            }
        }
        var freed: Int64 = 0
        for chunk in spare.sorted(by: { $0.modified < $1.modified }) where freed < max(bytes, Self.least) {
            if unsafe unlink(chunk.path) == 0 { freed += chunk.bytes }
        }
        return freed > 0
    }
}
