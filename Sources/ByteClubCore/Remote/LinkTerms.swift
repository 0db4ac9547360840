/// What somebody may say of a link for people without an account; what is nil is as the server has it: for a known link
/// it stays as it is.
public struct LinkTerms: Hashable, Sendable {
    /// In how many seconds from now the link ends.
    public var lifetime: Int64?
    /// What one must know to follow it, 8 to 1024 bytes; empty for nothing.
    public var password: String?
    /// Whether photos are given with what they tell of places and cameras.
    public var keepsLocation: Bool?

    /// Creates terms.
    public init(lifetime: Int64? = nil, password: String? = nil, keepsLocation: Bool? = nil) {
        self.lifetime = lifetime
        self.password = password
        self.keepsLocation = keepsLocation
    }

    /// Whether all is as the server has it.
    public var isEmpty: Bool { self == LinkTerms() }
}
