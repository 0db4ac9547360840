import ByteClubCore

/// An item as the values of its row.
///
/// A name or a hash is NULL when it equals the disk's, the synced revision when it equals the server's, and a key when it
/// equals its name.
struct ItemRow {
    static let columns = ItemColumn.allCases
    private let item: Item

    init(_ item: Item) { self.item = item }

    /// The columns in which another row is different, as the bits of a number.
    func difference(from other: ItemRow) -> UInt64 {
        Self.columns.reduce(0) { self[$1] == other[$1] ? $0 : $0 | $1.bit }
    }

    /// The value of a column; no bytes where a hash could be, and bytes for an identity that is no number.
    subscript(_ column: ItemColumn) -> StoredValue {
        let (local, remote, synced) = (item.local, item.remote, item.synced)
        return switch column {
        case .id: .number(item.id.number)
        case .flags: .number(ItemFlags(item).rawValue)
        case .unsettled: .number(item.isSettled ? 0 : 1)
        case .localParent: .number(local?.location.parent.number)
        case .localFold: .number(local.map { EntryName.fold($0.location.name.key) })
        case .localName: .text(local?.location.name.text)
        case .localKey: Self.key(local?.location.name)
        case .localHash: Self.hash(local?.hash, like: nil)
        case .localSize: .number(local?.size)
        case .handleHigh: .number((local?.stat?.handle.high).map(Int64.init(bitPattern:)))
        case .handleLow: .number((local?.stat?.handle.low).map(Int64.init(bitPattern:)))
        case .device: .number(local?.stat?.fingerprint.device)
        case .inode: .number(local?.stat?.fingerprint.inode)
        case .bytes: .number(local?.stat?.fingerprint.size)
        case .modified: .number(local?.stat?.fingerprint.modified)
        case .changed: .number(local?.stat?.fingerprint.changed)
        case .remoteParent: .number(remote?.location.parent.number)
        case .remoteFold: .number(remote.map { EntryName.fold($0.location.name.key) })
        case .remoteName: .text(unlessLocal(remote?.location.name)?.text)
        case .remoteKey: Self.key(unlessLocal(remote?.location.name))
        case .remoteHash: remote.map { Self.hash($0.hash, like: local?.hash) } ?? .null
        case .remoteSize: .number(remote?.size)
        case .node: Self.id(remote?.node)
        case .revision: .text(remote?.revision?.description)
        case .placeRevision: .number(remote?.placeRevision)
        case .generation: .number(remote?.generation)
        case .syncedParent: .number(synced?.location.parent.number)
        case .syncedName: .text(unlessLocal(synced?.location.name)?.text)
        case .syncedKey: Self.key(unlessLocal(synced?.location.name))
        case .syncedHash: synced.map { Self.hash($0.hash, like: local?.hash) } ?? .null
        case .syncedSize: .number(synced?.size)
        case .syncedRevision: syncedRevision
        case .syncedRemoteName: .text(synced?.remoteName?.text)
        case .syncedRemoteKey: Self.key(synced?.remoteName)
        case .lastNode: Self.id(item.lastNode)
        case .sent: Self.hash(item.sent, like: nil)
        case .remoteModified: .number(remote?.modified?.nanoseconds)
        }
    }

    /// Nothing when it is the server's, no text when there is none.
    private var syncedRevision: StoredValue {
        guard let synced = item.synced, synced.revision != item.remote?.revision else { return .null }
        return .text(synced.revision?.description ?? "")
    }

    /// A name, unless it is that on disk.
    private func unlessLocal(_ name: EntryName?) -> EntryName? {
        name == item.local?.location.name ? nil : name
    }

    /// A name's key, unless it is the name.
    private static func key(_ name: EntryName?) -> StoredValue {
        guard let name, !name.key.utf8.elementsEqual(name.text.utf8) else { return .null }
        return .text(name.key)
    }

    /// An identity of the server: a number if it is one, else bytes, which SQLite never converts to a number.
    static func id(_ id: EntryID?) -> StoredValue {
        guard let id else { return .null }
        return id.number.map { .number($0) } ?? .bytes(Array(id.text.utf8))
    }

    /// A hash; nothing when it is the other one, no bytes when there is none.
    private static func hash(_ hash: ContentHash?, like other: ContentHash?) -> StoredValue {
        if hash == other { return .null }
        return hash.map { .hash($0) } ?? .bytes([])
    }
}

extension ItemColumn {
    /// The column in a number of bits.
    var bit: UInt64 { 1 << UInt64(rawValue) }
}

/// The columns of an item's row, in the order of the schema.
enum ItemColumn: Int32, CaseIterable {
    case id, flags, unsettled
    case localParent, localFold, localName, localKey, localHash, localSize
    case handleHigh, handleLow, device, inode, bytes, modified, changed
    case remoteParent, remoteFold, remoteName, remoteKey, remoteHash, remoteSize
    case node, revision, placeRevision, generation
    case syncedParent, syncedName, syncedKey, syncedHash, syncedSize
    case syncedRevision, syncedRemoteName, syncedRemoteKey
    case lastNode, sent
    case remoteModified
}

/// The Boolean properties of an item in one number.
struct ItemFlags: OptionSet {
    let rawValue: Int64

    static let isExcluded = ItemFlags(rawValue: 1)
    static let isFrozen = ItemFlags(rawValue: 2)
    static let localFolder = ItemFlags(rawValue: 4)
    static let remoteFolder = ItemFlags(rawValue: 8)
    static let syncedFolder = ItemFlags(rawValue: 16)
    static let isLeftover = ItemFlags(rawValue: 32)
    static let isRacy = ItemFlags(rawValue: 64)
    static let isOutside = ItemFlags(rawValue: 128)
    static let isUnverified = ItemFlags(rawValue: 256)
    /// Whether the file may be executed, on each side; neither flag is set where that is unknown.
    static let localExecutable = (yes: ItemFlags(rawValue: 512), no: ItemFlags(rawValue: 1_024))
    static let remoteExecutable = (yes: ItemFlags(rawValue: 2_048), no: ItemFlags(rawValue: 4_096))
    static let syncedExecutable = (yes: ItemFlags(rawValue: 8_192), no: ItemFlags(rawValue: 16_384))

    init(rawValue: Int64) { self.rawValue = rawValue }

    init(_ item: Item) {
        var flags: ItemFlags = []
        if item.isExcluded { flags.insert(.isExcluded) }
        if item.isFrozen { flags.insert(.isFrozen) }
        if item.isOutside { flags.insert(.isOutside) }
        if let local = item.local {
            if local.isFolder { flags.insert(.localFolder) }
            if local.isLeftover { flags.insert(.isLeftover) }
            if local.stat?.isRacy == true { flags.insert(.isRacy) }
        }
        if item.remote?.isFolder == true { flags.insert(.remoteFolder) }
        if item.remote?.isUnverified == true { flags.insert(.isUnverified) }
        if item.synced?.isFolder == true { flags.insert(.syncedFolder) }
        flags.insert(item.local?.stat?.isExecutable, Self.localExecutable)
        flags.insert(item.remote?.isExecutable, Self.remoteExecutable)
        flags.insert(item.synced?.isExecutable, Self.syncedExecutable)
        self = flags
    }

    private mutating func insert(_ value: Bool?, _ flags: (yes: ItemFlags, no: ItemFlags)) {
        if let value { insert(value ? flags.yes : flags.no) }
    }

    /// The value of a pair of flags; nil when neither is set.
    func value(_ flags: (yes: ItemFlags, no: ItemFlags)) -> Bool? {
        contains(flags.yes) ? true : contains(flags.no) ? false : nil
    }
}

extension EntryName {
    /// A number that names of equal keys share, under which folders' indices have them (FNV-1a, 32 bits).
    static func fold(_ key: String) -> Int64 {
        var hash: UInt32 = 0x811C_9DC5
        for byte in key.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int64(hash)
    }
}

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
        case .null, .text, .hash: nil
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
