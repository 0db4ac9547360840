import ByteClubCore

/// The `ETag` of a file's version (RFC 9110 section 8.8.3): its rev, since a version never changes.
struct EntityTag: Hashable, Sendable {
    /// The header's value.
    let text: String

    /// The tag of a version.
    init(_ revision: JournalRevision) {
        text = "\"\(revision)\""
    }

    /// Tells whether an `If-None-Match` header names this version.
    func isNamed(in header: String?) -> Bool {
        guard let header else { return false }
        return header.split(separator: ",").contains { field in
            let tag = field.drop { $0 == " " }.prefix { $0 != " " }
            return tag == "*" || tag == text || tag == "W/" + text
        }
    }
}
