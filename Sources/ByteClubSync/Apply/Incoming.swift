import ByteClubCore

/// New content for an item, on its way to a place on the disk.
struct Incoming: Sendable {
    let item: ItemID
    let place: Place
    let hash: ContentHash
    let size: Int64
    /// The server's revision of the content.
    let revision: Int64
    /// The disk's content that it replaces, as the plan saw it; nil when nothing may be there.
    let replaced: LocalState?
    /// The bytes; nil when they stand in staging already.
    let bytes: [UInt8]?
    /// The name in staging.
    var stage: StagedName
    /// Which file in staging it is; nil before it is there.
    var handle: FileHandle?

    init(item: Item, place: Place, remote: RemoteState, hash: ContentHash, bytes: [UInt8]?) {
        self.item = item.id
        self.place = place
        self.hash = hash
        size = remote.size
        revision = remote.revision
        replaced = item.local
        self.bytes = bytes
        stage = .writing(item.id)
    }
}

/// Content that has come into its place.
struct Received: Sendable {
    let incoming: Incoming
    let look: DiskLook
}

/// A file that was replaced or deleted and whose writer may still write to it.
struct DisplacedFile {
    let item: ItemID
    let trashPath: String
    let path: String
    let look: DiskLook
    let until: Duration
}
