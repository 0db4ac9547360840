import ByteClubCore

/// An item as the values of its row.
///
/// What is the same as on disk is NULL on the other sides, and so is the server's revision when it is the synced one; a
/// key is NULL when it equals its name.
struct ItemRow {
    /// What is in one column.
    enum Value {
        case null
        case number(Int64)
        case text(String)
        case hash(ContentHash)
        /// No bytes, where a hash could be.
        case noHash
        /// An identity that is no number.
        case bytes([UInt8])
    }

    private static let columns = ItemColumn.allCases
    private let item: Item

    init(_ item: Item) { self.item = item }

    /// Hands over the values in the order of the columns, of those whose bits are set in a number.
    func forEachValue(in chosen: UInt64 = .max, _ body: (Value) -> Void) {
        for column in Self.columns where chosen & column.bit != 0 { body(self[column]) }
    }

    /// The columns in which another row is different, as the bits of a number.
    func difference(from other: ItemRow) -> UInt64 {
        Self.columns.reduce(0) { self[$1].isSame(as: other[$1]) ? $0 : $0 | $1.bit }
    }

    private subscript(_ column: ItemColumn) -> Value {
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
    private var syncedRevision: Value {
        guard let synced = item.synced, synced.revision != item.remote?.revision else { return .null }
        return .text(synced.revision?.description ?? "")
    }

    /// A name, unless it is that on disk.
    private func unlessLocal(_ name: EntryName?) -> EntryName? {
        name == item.local?.location.name ? nil : name
    }

    /// A name's key, unless it is the name.
    private static func key(_ name: EntryName?) -> Value {
        guard let name, !name.key.utf8.elementsEqual(name.text.utf8) else { return .null }
        return .text(name.key)
    }

    /// An identity of the server: a number where it is one, else bytes, which no column takes for a number.
    static func id(_ id: EntryID?) -> Value {
        guard let id else { return .null }
        return id.number.map { .number($0) } ?? .bytes(Array(id.text.utf8))
    }

    /// A hash; nothing when it is the other one, no bytes when there is none.
    private static func hash(_ hash: ContentHash?, like other: ContentHash?) -> Value {
        if hash == other { return .null }
        return hash.map { .hash($0) } ?? .noHash
    }
}

extension ItemColumn {
    /// The column in a number of bits.
    var bit: UInt64 { 1 << UInt64(rawValue) }
}

extension ItemRow.Value {
    fileprivate static func number(_ number: Int64?) -> ItemRow.Value { number.map { .number($0) } ?? .null }

    fileprivate static func text(_ text: String?) -> ItemRow.Value { text.map { .text($0) } ?? .null }

    /// Whether both are the same to the byte; texts that are only composed differently are not.
    fileprivate func isSame(as other: ItemRow.Value) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.number(let left), .number(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.hash(let left), .hash(let right)): left == right
        case (.noHash, .noHash): true
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
        case .hash(let hash): bind(index, hash)
        case .noHash: bind(index, [])
        case .bytes(let bytes): bind(index, bytes)
        }
    }
}
