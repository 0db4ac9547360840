import ByteClubCore
import Glibc

/// The files that one transaction brings to their places, so that the directories are synced once and all can be undone.
struct BlobPlacement {
    /// Where the contents are.
    let store: FileBlobStore
    private var placed: [(file: StagedFile, target: String)] = []
    private var directories: Set<String> = []

    /// Starts without files.
    init(store: FileBlobStore) {
        self.store = store
    }

    /// Gives a synced file its content's name, or leaves it where it is when an equal one is there.
    ///
    /// An upload's file keeps its own name too until the transaction is durable, so that a crash loses nothing of it.
    ///
    /// - Throws: ``StorageError`` as the system says; then nothing has moved.
    mutating func place(_ file: StagedFile, as hash: ContentHash, length: Int64) throws {
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
            if Directory.fileLength(target) == length { return }
            // What is there cannot be this content, whoever put it there.
            unsafe unlink(target)
            number = name(file.path, target)
        }
        if number != 0 { throw StorageError(errno: number, "cannot give '\(file.path)' its place") }
        if file.isTemporary { file.setMoved(true) }
        placed.append((file, target))
        directories.insert(directory)
    }

    /// Waits until the new names are on disk.
    func sync() throws {
        for directory in directories { try Directory.sync(directory) }
    }

    /// Takes the names away again.
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
