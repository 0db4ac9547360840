import ByteClubCore

/// An intent record: a content that is about to be renamed into place.
///
/// It is stored before the rename, so that recovery recognises the engine's own work whatever the server does meanwhile
/// (invariant I10).
struct PendingInstall: Hashable, Sendable {
    let item: ItemID
    let location: Location
    let hash: ContentHash
    /// The server's revision of the content; nil without one.
    let revision: Revision?
}

/// The purpose of an entry of staging, encoded in its name, so that recovery can classify it.
enum StagedName: Hashable, Sendable {
    /// New content that is being written: worthless after a crash, unless it is a large one that is whole.
    case writing(ItemID)
    /// The folder in which a large content of an item is downloaded: see ``StagedTransfers``.
    case downloading(ItemID, ContentHash)
    /// How far the upload of a large file of an item has come: see ``StagedTransfers``.
    case uploading(ItemID)
    /// Complete new content that is about to be exchanged with the file of an item, or that file, after the exchange.
    case exchanging(ItemID, new: ContentHash, expected: ContentHash)
    /// A file or folder that is being moved to the trash.
    case trashing(ItemID, expected: ContentHash?)

    /// What the name of an upload's position ends with until it replaces the former one.
    static let draftEnding = "-new"

    /// The name.
    var text: String {
        switch self {
        case .writing(let item): "w-\(item.number)"
        case .downloading(let item, let hash): "d-\(item.number)-\(hash)"
        case .uploading(let item): "u-\(item.number)"
        case .exchanging(let item, let new, let expected): "x-\(item.number)-\(new)-\(expected)"
        case .trashing(let item, let expected): "l-\(item.number)-\(expected.map { "\($0)" } ?? "unknown")"
        }
    }

    /// Reads a name; nil when it is none of ours.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 2, let number = Int64(parts[1]) else { return nil }
        switch (parts[0], parts.count) {
        case ("w", 2): self = .writing(ItemID(number))
        case ("u", 2): self = .uploading(ItemID(number))
        case ("u", 3) where "-" + parts[2] == Self.draftEnding: self = .uploading(ItemID(number))
        case ("d", 3):
            guard let hash = ContentHash(String(parts[2])) else { return nil }
            self = .downloading(ItemID(number), hash)
        case ("x", 4):
            guard let new = ContentHash(String(parts[2])), let expected = ContentHash(String(parts[3])) else {
                return nil
            }
            self = .exchanging(ItemID(number), new: new, expected: expected)
        case ("l", 3): self = .trashing(ItemID(number), expected: ContentHash(String(parts[2])))
        default: return nil
        }
    }
}
