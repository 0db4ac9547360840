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

/// What is true or false of an item, in one number.
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
    /// Whether it may be executed, on each side: that it may, or that it may not; neither where nobody knows.
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

    /// What two flags tell; nil when neither is there.
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
