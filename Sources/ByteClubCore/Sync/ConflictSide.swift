/// Which content of a conflict is kept.
public enum ConflictSide: String, Hashable, Sendable, Codable, CaseIterable {
    /// This machine's, which is in the conflict copy.
    case mine
    /// The other's, which has the name.
    case theirs
    /// Both, as they are.
    case both
}
