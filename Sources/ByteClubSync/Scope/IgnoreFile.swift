import ByteClubCore

/// An ignore file as it was read.
struct IgnoreFile: Sendable {
    /// Its text; empty when there is no file.
    let text: String
    /// The hash of its bytes; empty when there are none.
    let hash: String
    /// The rules in the text.
    let rules: IgnoreRules

    /// No file.
    static let none = IgnoreFile(text: "", hash: "", rules: IgnoreRules())
}

/// Ignore rules from the server that are held until they are approved, as stored in the database.
struct HeldRulesRecord: Hashable, Sendable {
    /// The hash of the file that holds them.
    var hash: String
    /// How many synced entries they would exclude.
    var entries: Int
    /// How many entries were synced then.
    var synced: Int
    /// When they were first held, in seconds since 1970.
    var since: Int64

    init(hash: String, entries: Int, synced: Int, since: Int64) {
        (self.hash, self.entries, self.synced, self.since) = (hash, entries, synced, since)
    }
}
