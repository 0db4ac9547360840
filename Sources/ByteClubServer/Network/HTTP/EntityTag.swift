import ByteClubCore

/// An `ETag` (RFC 9110 section 8.8.3): for a file's version its rev, since a version never changes.
struct EntityTag: Hashable, Sendable {
    /// The header's value.
    let text: String

    /// A tag of these characters, which are neither quotation marks nor control characters.
    init(text: String) {
        self.text = "\"\(text)\""
    }

    /// The tag of a version.
    init(_ revision: JournalRevision) {
        text = "\"\(revision)\""
    }

    /// Tells whether an `If-None-Match` header names it.
    func isNamed(in header: String?) -> Bool {
        guard let header else { return false }
        return header.split(separator: ",").contains { field in
            let tag = field.drop { $0 == " " }.prefix { $0 != " " }
            return tag == "*" || tag == text || tag == "W/" + text
        }
    }
}
