import ByteClubCore

/// An ignore file as it was read.
struct IgnoreFile: Sendable {
    /// Its text; empty when there is no file.
    let text: String
    /// The hash of its bytes; empty when there are none.
    let hash: String
    /// What the text says.
    let rules: IgnoreRules

    /// No file.
    static let none = IgnoreFile(text: "", hash: "", rules: IgnoreRules())
}

/// Rules that came from the server and wait for somebody's word, as the database keeps them.
struct HeldRules: Hashable, Sendable {
    /// The hash of the file that holds them.
    var hash: String
    /// How many entries that are in sync they would leave out.
    var entries: Int
    /// How many entries were in sync then.
    var synced: Int
    /// When they were first held, in seconds since 1970.
    var since: Int64

    init(hash: String, entries: Int, synced: Int, since: Int64) {
        (self.hash, self.entries, self.synced, self.since) = (hash, entries, synced, since)
    }
}
