import ByteClubCore

/// The parameters of an OAuth 1.0 request signed with the method PLAINTEXT (RFC 5849 section 3.4.4).
struct OAuth1: Hashable, Sendable {
    /// The app's key.
    let consumerKey: String
    /// The token's key.
    let token: String
    /// The signature, decoded once.
    let signature: String
    /// The signature as it was sent: some clients encode it and some do not.
    let rawSignature: String

    /// Reads the parameters, each given decoded and as sent.
    ///
    /// - Throws: ``APIError`` 403 when one is missing or of an unsupported kind.
    init(_ value: (String) -> (decoded: String, raw: String)?) throws(APIError) {
        func required(_ name: String) throws(APIError) -> (decoded: String, raw: String) {
            guard let value = value(name), !value.decoded.isEmpty else {
                throw APIError(403, "the OAuth parameter \(name) is missing")
            }
            return value
        }
        if let version = value("oauth_version"), version.decoded != "1.0" {
            throw APIError(403, "this OAuth version is not supported; use 1.0")
        }
        let method = try required("oauth_signature_method").decoded
        guard method == "PLAINTEXT" else {
            throw APIError(403, "this OAuth signature method is not supported; use PLAINTEXT")
        }
        consumerKey = try required("oauth_consumer_key").decoded
        token = try required("oauth_token").decoded
        (signature, rawSignature) = try required("oauth_signature")
    }

    /// Reads the header's `name="value"` fields, separated by a comma with or without a blank.
    ///
    /// - Throws: ``APIError`` 403 when they are malformed or repeated.
    static func fields(of header: Substring) throws(APIError) -> [String: (decoded: String, raw: String)] {
        var fields: [String: (decoded: String, raw: String)] = [:]
        for field in header.split(separator: ",") {
            let halves = field.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[1].utf8.count >= 2, halves[1].first == "\"", halves[1].last == "\"",
                case let raw = String(halves[1].dropFirst().dropLast()),
                let decoded = PercentCoding.decode(raw, plusIsBlank: false),
                fields.updateValue((decoded, raw), forKey: String(halves[0])) == nil
            else { throw APIError(403, "the Authorization header is malformed") }
        }
        return fields
    }

    /// Tells in constant time whether the signature was made with these secrets.
    func isSigned(consumerSecret: String, tokenSecret: String) -> Bool {
        let expected = PercentCoding.encode(consumerSecret) + "&" + PercentCoding.encode(tokenSecret)
        let decoded = ConstantTime.equal(signature, expected)
        let raw = ConstantTime.equal(rawSignature, expected)
        return decoded || raw
    }
}
