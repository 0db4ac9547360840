import ByteClubCore

/// What a digest of OAuth 1.0 is taken over (RFC 5849 section 3.4.1).
enum SignatureBase {
    /// The base string of a request.
    ///
    /// `origin` is the scheme, host and non-default port that the client used, and `path` is as it was sent. The
    /// parameters are those of query, form and header, decoded; the signature and the realm are left out here.
    static func text(
        method: String, origin: String, path: String, parameters: [(name: String, value: String)]
    ) -> String {
        let pairs =
            parameters.lazy
            .filter { $0.name != "oauth_signature" && $0.name != "realm" }
            .map { (name: PercentEncoding.encode($0.name), value: PercentEncoding.encode($0.value)) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        let text = pairs.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return [method.uppercased(), origin + path, text].map(PercentEncoding.encode).joined(separator: "&")
    }

    /// An origin without the port that its scheme has anyway, in lower case.
    static func normalized(_ origin: String) -> String {
        let text = origin.lowercased()
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")]
        where text.hasPrefix(scheme) && text.hasSuffix(port) {
            return String(text.dropLast(port.count))
        }
        return text
    }
}
