import ByteClubCore

extension SQLiteStatement {
    /// All rows as items, in the order of their identities.
    func items() throws(SyncError) -> [Item] {
        var result: [Item] = []
        var isSorted = true
        while try step() {
            let item = item()
            if let last = result.last, last.id > item.id { isSorted = false }
            result.append(item)
        }
        if isSorted { return result }
        return result.indices.sorted { result[$0].id < result[$1].id }.map { result[$0] }
    }

    /// The first row as an item; nil when there is none.
    func firstItem() throws(SyncError) -> Item? {
        guard try step() else { return nil }
        let item = item()
        reset()
        return item
    }

    /// The row as an item.
    private func item() -> Item {
        let flags = ItemFlags(rawValue: self[.flags])
        let local = local(flags)
        let remote = remote(flags, like: local)
        var item = Item(
            ItemID(self[.id]), local: local, remote: remote,
            synced: synced(flags, like: local, remote?.revision))
        item.lastNode = id(.lastNode)
        item.isExcluded = flags.contains(.isExcluded)
        item.isFrozen = flags.contains(.isFrozen)
        item.isOutside = flags.contains(.isOutside)
        item.sent = hash(.sent, like: nil)
        return item
    }

    private func local(_ flags: ItemFlags) -> LocalState? {
        guard let parent = optionalNumber(ItemColumn.localParent.rawValue) else { return nil }
        let stat: FileStat? =
            if let high = optionalNumber(ItemColumn.handleHigh.rawValue) {
                FileStat(
                    handle: FileHandle(high: UInt64(bitPattern: high), low: UInt64(bitPattern: self[.handleLow])),
                    fingerprint: FileFingerprint(
                        device: self[.device], inode: self[.inode], size: self[.bytes], modified: self[.modified],
                        changed: self[.changed]),
                    isRacy: flags.contains(.isRacy), isExecutable: flags.value(ItemFlags.localExecutable))
            } else {
                nil
            }
        return LocalState(
            location: Location(ItemID(parent), name(.localName, .localKey) ?? EntryName("")),
            isFolder: flags.contains(.localFolder), hash: hash(.localHash, like: nil), size: self[.localSize],
            stat: stat, isLeftover: flags.contains(.isLeftover))
    }

    private func remote(_ flags: ItemFlags, like local: LocalState?) -> RemoteState? {
        guard let parent = optionalNumber(ItemColumn.remoteParent.rawValue) else { return nil }
        return RemoteState(
            node: id(.node),
            location: Location(ItemID(parent), name(.remoteName, .remoteKey) ?? local?.location.name ?? EntryName("")),
            isFolder: flags.contains(.remoteFolder), hash: hash(.remoteHash, like: local?.hash),
            size: self[.remoteSize], revision: revision(.revision, like: nil),
            placeRevision: self[.placeRevision], generation: self[.generation],
            isUnverified: flags.contains(.isUnverified),
            modified: optionalNumber(ItemColumn.remoteModified.rawValue).map(FileTime.init(nanoseconds:)),
            isExecutable: flags.value(ItemFlags.remoteExecutable))
    }

    private func synced(_ flags: ItemFlags, like local: LocalState?, _ revision: Revision?) -> SyncedState? {
        guard let parent = optionalNumber(ItemColumn.syncedParent.rawValue) else { return nil }
        return SyncedState(
            location: Location(ItemID(parent), name(.syncedName, .syncedKey) ?? local?.location.name ?? EntryName("")),
            remoteName: name(.syncedRemoteName, .syncedRemoteKey), isFolder: flags.contains(.syncedFolder),
            hash: hash(.syncedHash, like: local?.hash), size: self[.syncedSize],
            revision: self.revision(.syncedRevision, like: revision),
            isExecutable: flags.value(ItemFlags.syncedExecutable))
    }

    private subscript(_ column: ItemColumn) -> Int64 { number(column.rawValue) }

    private func name(_ text: ItemColumn, _ key: ItemColumn) -> EntryName? {
        guard let name = self.text(text.rawValue) else { return nil }
        return EntryName(name, key: self.text(key.rawValue) ?? name)
    }

    private func id(_ column: ItemColumn) -> EntryID? {
        switch value(column.rawValue) {
        case .number(let number): EntryID(number)
        case .bytes(let bytes): EntryID(text: String(decoding: bytes, as: UTF8.self))
        case .none, .text: nil
        }
    }

    private func revision(_ column: ItemColumn, like other: Revision?) -> Revision? {
        guard let text = self.text(column.rawValue) else { return other }
        return Revision(text)
    }

    private func hash(_ column: ItemColumn, like other: ContentHash?) -> ContentHash? {
        isNull(column.rawValue) ? other : hash(column.rawValue)
    }
}
