import ByteClubCore

/// An entry that has vanished from its place, or a new one: one end of a move that nobody saw.
struct LooseEntry {
    let id: ItemID
    let place: Place
    let isFolder: Bool
    let size: Int64
    /// A file's content; nil when nobody has read it.
    var hash: ContentHash?

    init(_ id: ItemID, _ local: LocalState) {
        self.id = id
        place = local.place
        isFolder = local.isFolder
        size = local.size
        hash = local.hash
    }
}

/// Files by what makes one the other end of another's move: the same content under the same name or in the same folder.
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
            Named(hash: hash, name: file.place.name), Neighbour(hash: hash, folder: file.place.parent)
        )
        byName[named] = byName[named] == nil ? .one(file.id) : .several
        byFolder[neighbour] = byFolder[neighbour] == nil ? .one(file.id) : .several
    }

    /// The one file that can be the other end of a file's move; nil when there is none, or more than one.
    func only(for file: LooseEntry) -> ItemID? {
        guard let hash = file.hash else { return nil }
        let named = byName[Named(hash: hash, name: file.place.name)]
        let neighbour = byFolder[Neighbour(hash: hash, folder: file.place.parent)]
        switch (named, neighbour) {
        case (.one(let id), nil), (nil, .one(let id)): return id
        case (.one(let id), .one(let other)): return id == other ? id : nil
        default: return nil
        }
    }
}

/// What files are worth being read: those that are as long as a vanished one with the same name or in the same folder.
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
        byName.insert(Named(size: file.size, name: file.place.name))
        byFolder.insert(Neighbour(size: file.size, folder: file.place.parent))
    }

    /// Whether a new file may be one of those that were taken.
    func mayHave(_ file: LooseEntry) -> Bool {
        byName.contains(Named(size: file.size, name: file.place.name))
            || byFolder.contains(Neighbour(size: file.size, folder: file.place.parent))
    }
}
