/// Something that a verification found not to be as it should.
struct Finding: Hashable, Sendable {
    /// The kind of thing.
    enum Kind: String, Sendable {
        /// The database file itself.
        case database
        /// A content's bytes.
        case content
        /// A version whose content is missing or of another length.
        case reference
        /// An entry of the tree, or its parent.
        case tree
        /// A version, or its place in the history of its path.
        case journal
        /// A stored sum that does not match its parts.
        case counter
        /// An entry of the search index, or the index as a whole.
        case index
        /// The file of an upload in pieces.
        case upload
        /// Content that nothing refers to: no damage, the server frees it in time.
        case orphan
    }

    /// The kind of thing.
    let kind: Kind
    /// The thing: a path with its revision, a content's hash, a counter's name.
    let subject: String
    /// The problem.
    let problem: String

    init(_ kind: Kind, _ subject: String, _ problem: String) {
        (self.kind, self.subject, self.problem) = (kind, subject, problem)
    }

    /// Whether something is lost or wrong, not only left over.
    var isDamage: Bool { kind != .orphan }

    /// The finding in one line.
    var line: String { "\(kind.rawValue)\t\(subject)\t\(problem)" }
}

/// The result of a verification.
struct VerificationReport: Sendable {
    /// How many versions the journal has.
    var versions = 0
    /// How many contents were hashed.
    var contents = 0
    /// How many bytes were hashed.
    var bytes: Int64 = 0
    /// All that was found.
    var findings: [Finding] = []

    /// Adds what was found in a part of the contents.
    mutating func add(_ part: VerificationReport) {
        contents += part.contents
        bytes += part.bytes
        findings += part.findings
    }

    /// Whether nothing is damaged.
    var isClean: Bool { !findings.contains(where: \.isDamage) }
}
