import ByteClubCore

/// An item as the values of its row, in the order of the columns.
///
/// What is the same as on disk is NULL on the other sides, and so is the server's revision when it is the synced one; a
/// key is NULL when it equals its name.
struct ItemRow {
    /// What is in one column.
    enum Value {
        case null
        case number(Int64)
        case text(String)
        case bytes([UInt8])
    }

    private(set) var values = [Value](repeating: .null, count: ItemColumn.allCases.count)

    init(_ item: Item) {
        self[.id] = .number(item.id.number)
        self[.flags] = .number(ItemFlags(item).rawValue)
        self[.unsettled] = .number(item.isSettled ? 0 : 1)
        if let local = item.local { set(local) }
        if let remote = item.remote { set(remote, like: item.local) }
        if let synced = item.synced { set(synced, like: item.local, item.remote?.revision) }
        if let node = item.lastNode { self[.lastNode] = .number(node.number) }
        if let sent = item.sent { self[.sent] = .bytes(sent.bytes) }
    }

    /// The columns in which another row is different, as the bits of a number.
    func difference(from other: ItemRow) -> UInt64 {
        var columns: UInt64 = 0
        for (column, value) in values.enumerated() where !value.isSame(as: other.values[column]) {
            columns |= 1 << UInt64(column)
        }
        return columns
    }

    private subscript(_ column: ItemColumn) -> Value {
        get { values[Int(column.rawValue)] }
        set { values[Int(column.rawValue)] = newValue }
    }

    private mutating func set(_ local: LocalState) {
        self[.localParent] = .number(local.location.parent.number)
        self[.localFold] = .number(EntryName.fold(local.location.name.key))
        set(local.location.name, .localName, .localKey, like: nil)
        set(local.hash, .localHash, like: nil)
        self[.localSize] = .number(local.size)
        guard let stat = local.stat else { return }
        self[.handleHigh] = .number(Int64(bitPattern: stat.handle.high))
        self[.handleLow] = .number(Int64(bitPattern: stat.handle.low))
        self[.device] = .number(stat.fingerprint.device)
        self[.inode] = .number(stat.fingerprint.inode)
        self[.bytes] = .number(stat.fingerprint.size)
        self[.modified] = .number(stat.fingerprint.modified)
        self[.changed] = .number(stat.fingerprint.changed)
    }

    private mutating func set(_ remote: RemoteState, like local: LocalState?) {
        self[.remoteParent] = .number(remote.location.parent.number)
        self[.remoteFold] = .number(EntryName.fold(remote.location.name.key))
        set(remote.location.name, .remoteName, .remoteKey, like: local?.location.name)
        set(remote.hash, .remoteHash, like: local?.hash)
        self[.remoteSize] = .number(remote.size)
        if let node = remote.node { self[.node] = .number(node.number) }
        if let revision = remote.revision { self[.revision] = .text(revision.description) }
        self[.placeRevision] = .number(remote.placeRevision)
        self[.generation] = .number(remote.generation)
        if let modified = remote.modified { self[.remoteModified] = .number(modified.nanoseconds) }
    }

    private mutating func set(_ synced: SyncedState, like local: LocalState?, _ revision: Revision?) {
        self[.syncedParent] = .number(synced.location.parent.number)
        set(synced.location.name, .syncedName, .syncedKey, like: local?.location.name)
        set(synced.hash, .syncedHash, like: local?.hash)
        self[.syncedSize] = .number(synced.size)
        // Nothing when it is the server's, no text when there is none.
        if synced.revision != revision { self[.syncedRevision] = .text(synced.revision?.description ?? "") }
        if let name = synced.remoteName { set(name, .syncedRemoteName, .syncedRemoteKey, like: nil) }
    }

    /// Sets a name; nothing when it is the other one.
    private mutating func set(_ name: EntryName, _ text: ItemColumn, _ key: ItemColumn, like other: EntryName?) {
        if name == other { return }
        self[text] = .text(name.text)
        if !name.key.utf8.elementsEqual(name.text.utf8) { self[key] = .text(name.key) }
    }

    /// Sets a hash; nothing when it is the other one, no bytes when there is none.
    private mutating func set(_ hash: ContentHash?, _ column: ItemColumn, like other: ContentHash?) {
        if hash != other { self[column] = .bytes(hash?.bytes ?? []) }
    }
}

extension ItemRow.Value {
    /// Whether both are the same to the byte; texts that are only composed differently are not.
    fileprivate func isSame(as other: ItemRow.Value) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.number(let left), .number(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }
}

extension SQLiteStatement {
    /// Binds a column's value.
    func bind(_ index: Int32, _ value: ItemRow.Value) {
        switch value {
        case .null: bindNull(index)
        case .number(let number): bind(index, number)
        case .text(let text): bind(index, text)
        case .bytes(let bytes): bind(index, bytes)
        }
    }
}
