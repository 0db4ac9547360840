import ByteClubCore
import Glibc

/// The files that one transaction brings to their places, so that the directories are synced once and all can be
/// undone.
struct FilePublication: BlobPublication {
    /// Up to how many directories are synced one by one.
    private static let fewDirectories = 3

    private let store: FileBlobStore
    private var placed: [(file: StagedFile, target: String)] = []
    private var directories: Set<String> = []

    /// Starts without files.
    init(store: FileBlobStore) {
        self.store = store
    }

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
            // What is there cannot be this content, whoever put it there.
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
        // The next transaction finds a new directory there, and syncs only what is in it.
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
