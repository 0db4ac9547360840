import ByteClubCore

extension Mirror {
    /// Goes on with removing a folder that is left out, after an engine was stopped at it.
    ///
    /// What the disk has is not in the tree any more: a file goes when the server shows the very content of it.
    func resumeDepartures() throws {
        guard let text = try store.meta(.departing) else { return }
        let key = PathKey(folded: text)
        guard scanner.rules.deselected.contains(key), let (folder, path) = try remoteFolder(at: key) else {
            return try store.setMeta(.departing, nil)
        }
        var departure = Departure(store)
        try departure.gatherRemote(folder, at: path)
        try remove(departure.confirmed { try lookAtStored($0) })
    }

    /// The folder that the server shows at a path by its keys, with the path as it is spelled there.
    private func remoteFolder(at key: PathKey) throws -> (id: ItemID, path: String)? {
        var (found, path) = (ItemID.root, "")
        for name in key.string.utf8.split(separator: UInt8(ascii: "/")) {
            let children = try store.children(of: found, key: String(Substring(name)), on: .remote)
            guard let next = children.first(where: \.isFolder), let place = next.remote?.place else { return nil }
            (found, path) = (next.id, LocalPath.join(path, place.name.text))
        }
        return found == .root ? nil : (found, path)
    }

    /// How a file looks whose content is the one that the server has; nil when it is another or gone.
    private func lookAtStored(_ file: Departure.File) throws -> DiskLook? {
        guard let folder = try? root.folder(below: LocalPath.split(file.path).parent),
            let open = try? folder.open(file.name), let look = try? open.look(), !open.isBeingWritten
        else { return nil }
        return try Scanner.hash(open) == file.hash ? look : nil
    }
}
