import ByteClubCore

/// A wave of deletions as it is stored.
struct DeletionWaveRecord: StoredRecord {
    /// When its last deletion was planned or done, in seconds since 1970.
    let last: Int64
    /// How many entries were synced when it began.
    let size: Int
    /// How many entries it has deleted.
    let count: Int

    static var table: RecordTable { .deletionWave }
    var values: [StoredValue] { [.number(last), .number(Int64(size)), .number(Int64(count))] }

    init(last: Int64, size: Int, count: Int) { (self.last, self.size, self.count) = (last, size, count) }

    init?(_ values: [StoredValue]) {
        guard values.count == 3, let last = values[0].number, let size = values[1].number, let count = values[2].number
        else { return nil }
        self.init(last: last, size: Int(clamping: size), count: Int(clamping: count))
    }
}

/// An entry that a wave has deleted on the server before the guard held the rest, or was about to.
struct SentDeletion: StoredRecord {
    /// The most that are remembered.
    static let most = 10_000

    let item: ItemID
    /// The server's path, relative to the mirrored folder.
    let path: String
    /// The content's last revision; nil for a folder.
    let revision: Revision?
    /// The content's hash; nil for a folder, and when the server told none.
    let hash: ContentHash?
    /// Whether it is to be brought back.
    var isWanted = false

    static var table: RecordTable { .sentDeletion }
    var values: [StoredValue] {
        [
            .number(item.number), .text(path), revision.map { .text($0.description) } ?? .none,
            hash.map { .bytes($0.bytes) } ?? .none, .number(isWanted ? 1 : 0),
        ]
    }

    init(_ item: ItemID, path: String, revision: Revision?, hash: ContentHash?) {
        (self.item, self.path, self.revision, self.hash) = (item, path, revision, hash)
    }

    init?(_ values: [StoredValue]) {
        guard values.count == 5, let item = values[0].number, let path = values[1].text else { return nil }
        self.init(
            ItemID(item), path: path, revision: values[2].text.flatMap { Revision($0) },
            hash: values[3].bytes.flatMap { ContentHash(bytes: $0) })
        isWanted = values[4].number == 1
    }
}
