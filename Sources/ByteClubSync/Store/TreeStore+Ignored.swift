import ByteClubCore

extension TreeStore {
    /// How many entries the ignore rules exclude, on either side.
    func ignored() throws -> SyncStatus.Ignored {
        let disk = try IgnoredOnDisk(self).total(in: self)
        let chosen = try records(LeftOutFolder.self).compactMap { try folder(at: $0.key, on: .remote)?.id }
            .reduce(0) { try $0 + remoteCount($1) }
        return SyncStatus.Ignored(disk: disk, server: max(0, try excludedCount() - chosen))
    }

    /// How many entries of the server there are in an item, itself included.
    func remoteCount(_ id: ItemID) throws -> Int {
        guard let item = try item(id), item.isFolder else { return 1 }
        var count = 1
        try visitRemote(below: id) { _ in count += 1 }
        return count
    }
}
