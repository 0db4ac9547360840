/// What may be sent as a bearer token: the characters of RFC 6750, so that nothing can be smuggled into a header.
enum Token {
    /// The token without blanks and line ends around it.
    static func check(_ text: String, _ source: String) throws -> String {
        let token = text[...].trimmed
        if token.isEmpty { throw Failure(.usage, "\(source) is empty; give the token that the club's owner created") }
        let isSane = token.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "-._~+/=".utf8.contains(byte)
        }
        guard isSane, token.utf8.count <= 4096 else {
            let isSetting = source == "BYTECLUB_TOKEN"
            throw Failure(
                isSetting ? .configuration : .badData,
                "\(source) is invalid; a token contains only letters, digits and -._~+/=")
        }
        return token
    }
}
