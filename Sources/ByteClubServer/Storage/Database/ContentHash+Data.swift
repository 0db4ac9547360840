import ByteClubCore
import FoundationEssentials

extension ContentHash {
    /// The hash as the database keeps it.
    var data: Data { Data(bytes) }
}

extension StagedContent {
    /// The bytes that go to the database.
    var inlineBytes: Int {
        if case .inline(let bytes) = place { bytes.count } else { 0 }
    }
}
