import ByteClubCore
import FoundationEssentials

extension ContentHash {
    /// The hash as the database keeps it.
    var data: Data { unsafe withUnsafeBytes { unsafe Data($0) } }
}

extension StagedContent {
    /// The bytes that go to the database.
    var inlineBytes: Int {
        if case .inline(let bytes) = place { bytes.count } else { 0 }
    }
}

extension PathKey {
    /// The key with `/` as the lowest byte, so that bytewise order is the order of keys; empty for the root.
    var sorting: String {
        self == .root ? "" : String(decoding: string.utf8.map { $0 == UInt8(ascii: "/") ? 1 : $0 }, as: UTF8.self)
    }

    /// The open range of ``sorting`` in which everything strictly below the key lies.
    var sortingBelow: (after: String, before: String) { (sorting + "\u{1}", sorting + "\u{2}") }
}
