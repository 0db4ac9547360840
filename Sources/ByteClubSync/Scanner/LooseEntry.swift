import ByteClubCore

/// A vanished or a new entry: one end of a possible move that was not observed.
struct LooseEntry {
    let id: ItemID
    let location: Location
    let isFolder: Bool
    let size: Int64
    /// A file's hash; nil when it was not read.
    var hash: ContentHash?

    init(_ id: ItemID, _ local: LocalState) {
        self.id = id
        location = local.location
        isFolder = local.isFolder
        size = local.size
        hash = local.hash
    }
}

/// An index of files by what identifies the other end of a move: the same content under the same name or in the same
/// folder.
struct LooseFiles {
    private struct Named: Hashable {
        let hash: ContentHash
        let name: EntryName
    }

    private struct Neighbour: Hashable {
        let hash: ContentHash
        let folder: ItemID
    }

    private enum Found {
        case one(ItemID)
        case several
    }

    private var byName: [Named: Found] = [:]
    private var byFolder: [Neighbour: Found] = [:]

    /// Takes a file whose content is known.
    mutating func add(_ file: LooseEntry) {
        guard let hash = file.hash else { return }
        let (named, neighbour) = (
            Named(hash: hash, name: file.location.name), Neighbour(hash: hash, folder: file.location.parent)
        )
        byName[named] = byName[named] == nil ? .one(file.id) : .several
        byFolder[neighbour] = byFolder[neighbour] == nil ? .one(file.id) : .several
    }

    /// The only file that can be the other end of a file's move; nil when there is none, or several.
    func only(for file: LooseEntry) -> ItemID? {
        guard let hash = file.hash else { return nil }
        let named = byName[Named(hash: hash, name: file.location.name)]
        let neighbour = byFolder[Neighbour(hash: hash, folder: file.location.parent)]
        switch (named, neighbour) {
        case (.one(let id), nil), (nil, .one(let id)): return id
        case (.one(let id), .one(let other)): return id == other ? id : nil
        default: return nil
        }
    }
}

/// Which files are worth reading: those of the size of a vanished one with the same name or in the same folder.
struct LooseSizes {
    private struct Named: Hashable {
        let size: Int64
        let name: EntryName
    }

    private struct Neighbour: Hashable {
        let size: Int64
        let folder: ItemID
    }

    private var byName: Set<Named> = []
    private var byFolder: Set<Neighbour> = []

    /// Takes a vanished file whose content is known.
    mutating func add(_ file: LooseEntry) {
        byName.insert(Named(size: file.size, name: file.location.name))
        byFolder.insert(Neighbour(size: file.size, folder: file.location.parent))
    }

    /// Whether a new file may be one of those that were taken.
    func mayHave(_ file: LooseEntry) -> Bool {
        byName.contains(Named(size: file.size, name: file.location.name))
            || byFolder.contains(Neighbour(size: file.size, folder: file.location.parent))
    }
}
