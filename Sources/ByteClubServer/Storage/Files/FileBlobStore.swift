import ByteClubCore
import Glibc

/// Contents as files named by their hashes: `ab/cdef…` for the hash `abcdef…`.
struct FileBlobStore: BlobStore {
    /// The directory of the contents.
    let root: String
    /// The directory where new ones are written; on the same file system.
    let staging: String
    /// The part of the disk that stays free.
    let reserve: DiskReserve

    /// Makes both directories when they are missing.
    ///
    /// - Throws: ``StorageError``.
    init(directory: String) throws {
        self.init(existing: directory)
        let isNew = try (Directory.make(root), Directory.make(staging))
        if isNew.0 || isNew.1 { try Directory.sync(directory) }
    }

    /// Opens existing directories and makes nothing.
    init(existing directory: String) {
        root = directory + "/blobs"
        staging = directory + "/staging"
        reserve = DiskReserve(directory, spare: SpareChunks(root: directory + "/chunks"))
    }

    func writer() async throws -> any BlobWriter {
        FileBlobWriter(path: staging + "/" + Secret.text(bytes: 16), reserve: reserve)
    }

    func blob(_ hash: ContentHash, length: Int64) -> any Blob { FileBlob(path: path(of: hash), length: length) }

    func has(_ hash: ContentHash, length: Int64) -> Bool { Directory.fileLength(path(of: hash)) == length }

    func publication() -> any BlobPublication { FilePublication(store: self) }

    func contents(beginning byte: UInt8) async throws -> [ContentHash] {
        let folder = Hexadecimal.encode([byte])
        let path = root + "/" + folder
        return try await ContentPipeline.onDisk {
            guard unsafe access(path, F_OK) == 0 else { return [] }
            return try Directory.names(in: path).compactMap { ContentHash(folder + $0) }
        }
    }

    func remove(_ hash: ContentHash) { unsafe unlink(path(of: hash)) }

    /// The file that holds a content, whether or not it is there.
    func path(of hash: ContentHash) -> String {
        directory(of: hash) + "/" + Hexadecimal.encode(hash.bytes.dropFirst())
    }

    /// The directory of a content.
    func directory(of hash: ContentHash) -> String {
        root + "/" + Hexadecimal.encode(hash.bytes.prefix(1))
    }

    /// The file of an upload in pieces.
    func uploadPath(_ id: String) -> String { staging + "/upload-" + id }
}

/// The files that one transaction brings to their places, so that the directories are synced once and all can be
/// undone.
struct FilePublication: BlobPublication {
    /// The most directories that are synced one by one.
    private static let fewDirectories = 3

    let store: FileBlobStore
    private(set) var placed: [(file: StagedFile, target: String)] = []
    private(set) var directories: Set<String> = []

    /// Moves a synced file to its content's place.
    ///
    /// An upload's file keeps its own name too until the transaction is durable, so that a crash loses nothing of it.
    mutating func publish(_ blob: any StagedBlob, as hash: ContentHash, length: Int64) throws {
        guard let file = blob as? StagedFile else {
            throw StorageError(.io, "a content was staged by another store than the one that is to keep it")
        }
        let target = store.path(of: hash)
        let directory = store.directory(of: hash)
        let name = file.isTemporary ? Directory.moveNew : Directory.linkNew
        var number = name(file.path, target)
        if number == ENOENT, try Directory.make(directory) {
            directories.insert(store.root)
            number = name(file.path, target)
        }
        if number == EEXIST {
            directories.insert(directory)
            if store.has(hash, length: length) { return }
            // Another file has this name, and it cannot be this content.
            unsafe unlink(target)
            number = name(file.path, target)
        }
        if number != 0 { throw StorageError(errno: number, "cannot give '\(file.path)' its place") }
        if file.isTemporary { file.setMoved(true) }
        placed.append((file, target))
        directories.insert(directory)
    }

    /// Many directories are synced by one call for all of the file system, which costs less.
    func sync() throws {
        if directories.count > Self.fewDirectories { return try Directory.syncFileSystem(store.root) }
        for directory in directories { try Directory.sync(directory) }
    }

    mutating func undo() {
        // The next transaction finds a new directory there, and syncs only its entries.
        if directories.contains(store.root) { try? Directory.sync(store.root) }
        for (file, target) in placed {
            if !file.isTemporary {
                unsafe unlink(target)
            } else if Directory.moveNew(target, to: file.path) == 0 {
                file.setMoved(false)
            }
        }
        placed = []
    }
}
