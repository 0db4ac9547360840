import ByteClubCore

/// What a file in staging is, told by its name alone, so that whoever finds it after a crash can classify it.
enum StagedName: Hashable, Sendable {
    /// New content that is being written: worth nothing until it has another name.
    case writing(ItemID)
    /// Whole new content that is about to change places with the file of an item, or that file, once they have.
    case exchanging(ItemID, new: ContentHash, expected: ContentHash)
    /// A file or folder that is on its way to the trash.
    case leaving(ItemID, expected: ContentHash?)

    /// The name.
    var text: String {
        switch self {
        case .writing(let item): "w-\(item.number)"
        case .exchanging(let item, let new, let expected): "x-\(item.number)-\(new)-\(expected)"
        case .leaving(let item, let expected): "l-\(item.number)-\(expected.map { "\($0)" } ?? "unknown")"
        }
    }

    /// Reads a name; nil when it is none of ours.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 2, let number = Int64(parts[1]) else { return nil }
        switch (parts[0], parts.count) {
        case ("w", 2): self = .writing(ItemID(number))
        case ("x", 4):
            guard let new = ContentHash(String(parts[2])), let expected = ContentHash(String(parts[3])) else {
                return nil
            }
            self = .exchanging(ItemID(number), new: new, expected: expected)
        case ("l", 3): self = .leaving(ItemID(number), expected: ContentHash(String(parts[2])))
        default: return nil
        }
    }
}
