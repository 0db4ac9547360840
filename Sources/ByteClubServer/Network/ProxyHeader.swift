import HTTPTypes

/// The header by which a proxy tells whom it got a request from.
enum ProxyHeader: String, CaseIterable, Sendable {
    /// `Forwarded` (RFC 7239).
    case forwarded
    /// `X-Forwarded-For`, with `X-Forwarded-Proto` and `X-Forwarded-Host`.
    case xForwardedFor = "x-forwarded-for"

    /// The header of a request that has one kind alone; nil when it has none, or both.
    static func only(in headers: HTTPFields) -> ProxyHeader? {
        let isStandard = headers.contains(.forwarded)
        let isOlder = [HTTPField.Name.forwardedFor, .forwardedProto, .forwardedHost].contains { headers.contains($0) }
        return isStandard == isOlder ? nil : isStandard ? .forwarded : .xForwardedFor
    }
}
