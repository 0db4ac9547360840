import HTTPTypes

/// Which responses count as a success.
///
/// Any other final response ends its task with ``TransferError/Code/unacceptableResponse``, with the response and its
/// body in ``TransferError/rejected``; of a download no file is made then. Redirects, retries and renewed credentials
/// come first.
public struct ResponseValidation: Sendable, Hashable {
    /// The accepted statuses: 200 to 299.
    public var statuses: ClosedRange<Int>

    /// The accepted media types, such as `application/json`, `image/*` or `*/*`; empty for any.
    ///
    /// Compared without case and parameters. A response without a body need not have one.
    public var contentTypes: [String]

    /// A validation.
    ///
    /// - Parameters:
    ///   - statuses: The accepted statuses.
    ///   - contentTypes: The accepted media types; empty for any.
    public init(statuses: ClosedRange<Int> = 200...299, contentTypes: [String] = []) {
        self.statuses = statuses
        self.contentTypes = contentTypes
    }

    /// Every 2xx, of any type.
    public static var successful: ResponseValidation { ResponseValidation() }

    /// What is wrong with a response; nil if nothing is.
    func objection(to response: HTTPResponse, hasBody: Bool) -> String? {
        let status = response.status.code
        guard statuses.contains(status) else { return "the server answered \(status)" }
        guard hasBody, !contentTypes.isEmpty else { return nil }
        guard let type = response.headerFields[.contentType].map(Self.mediaType) else {
            return "the response says nothing of its type"
        }
        let isAccepted = contentTypes.contains { accepted in
            let accepted = Self.mediaType(accepted)
            return accepted == "*/*" || accepted == type
                || accepted.hasSuffix("/*") && type.hasPrefix(accepted.dropLast())
        }
        return isAccepted ? nil : "the response is of the type \(type)"
    }

    private static func mediaType(_ value: String) -> String {
        let type = value.prefix { $0 != ";" }.lowercased()
        return String(type.drop { $0 == " " }.prefix { $0 != " " })
    }
}
