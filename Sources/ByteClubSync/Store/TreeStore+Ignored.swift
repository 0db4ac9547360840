import ByteClubCore

extension TreeStore {
    /// How many entries the ignore rules exclude, on either side.
    func ignored() throws -> SyncStatus.Ignored {
        let disk = try IgnoredOnDisk(self).total(in: self)
        let chosen = try records(LeftOutFolder.self).reduce(into: 0) { $0 += try remoteCount(at: $1.key) }
        return SyncStatus.Ignored(disk: disk, server: max(0, try excludedCount() - chosen))
    }

    /// How many entries the server has at a path, with all that is in a folder.
    private func remoteCount(at key: PathKey) throws -> Int {
        var found = ItemID.root
        for name in key.string.utf8.split(separator: UInt8(ascii: "/")) {
            guard let next = try children(of: found, key: String(Substring(name)), on: .remote).first else { return 0 }
            found = next.id
        }
        return try remoteCount(found)
    }

    /// How many entries of the server there are in an item, itself included.
    func remoteCount(_ id: ItemID) throws -> Int {
        guard let item = try item(id), item.isFolder else { return 1 }
        var count = 1
        try visitRemote(below: id) { _ in count += 1 }
        return count
    }
}
