import Glibc
import Synchronization

/// A synced file in the staging folder.
///
/// A temporary one is removed with its last reference unless it was moved to its place; an upload's file stays.
final class StagedFile: StagedBlob {
    /// The file's path while it waits.
    let path: String
    /// Whether nobody needs the file once this object is gone.
    let isTemporary: Bool
    private let isMoved = Atomic(false)

    /// Takes over a file.
    init(path: String, isTemporary: Bool = true) {
        self.path = path
        self.isTemporary = isTemporary
    }

    deinit {
        if isTemporary, !isMoved.load(ordering: .acquiring) { unsafe unlink(path) }
    }

    /// Says whether the file has left its path.
    func setMoved(_ moved: Bool) { isMoved.store(moved, ordering: .releasing) }
}
