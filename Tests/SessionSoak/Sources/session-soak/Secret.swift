@testable import ByteClubHTTP

/// The secrets of the soak, each of which names its owner: an origin, A or B, or the proxy, P.
enum Secret {
    static let owners = ["A", "B", "P"]

    /// The users for Basic and Digest, and their passwords.
    static func credential(of owner: String, for scheme: String, isRight: Bool = true) -> PasswordCredential {
        PasswordCredential(
            user: "secret-for-\(owner)-\(scheme)", password: isRight ? "right-\(owner)-\(scheme)" : "wrong")
    }

    /// What every secret of an owner begins with, as it is and in Base64, of which its 12 bytes are whole groups.
    private static let marks = owners.map { owner -> (owner: String, plain: String, encoded: String) in
        (owner, "secret-for-\(owner)", Array("secret-for-\(owner)".utf8).base64)
    }

    /// The same of the users for Digest, up to the last whole group.
    private static let digestUsers = owners.map { Array("secret-for-\($0)-di".utf8).base64 }

    /// Whose secrets a field's value contains.
    static func owners(in value: String) -> [String] {
        guard value.contains("secret-for-") || value.hasPrefix("Basic ") else { return [] }
        return marks.filter { value.contains($0.plain) || value.contains($0.encoded) }.map(\.owner)
    }

    /// Whether a value sends a password for Digest by Basic, which reveals it.
    static func revealsDigest(_ value: String) -> Bool {
        value.hasPrefix("Basic ") && digestUsers.contains { value.contains($0) }
    }

    /// Whether a value answers a challenge.
    static func isAnswer(_ value: String) -> Bool { value.hasPrefix("Basic ") || value.hasPrefix("Digest ") }
}
