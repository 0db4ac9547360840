import HTTPTypes

/// Which responses count as a success.
///
/// Any other final response ends its task with ``TransferError/Code/unacceptableResponse``, and
/// ``TransferError/rejected`` holds the response with its body; a download creates no file then. Redirects, retries and
/// renewed credentials happen first.
public struct ResponseValidation: Sendable, Hashable {
    /// The accepted statuses: 200 to 299.
    public var statuses: ClosedRange<Int>

    /// The accepted media types, such as `application/json`, `image/*` or `*/*`; empty for any.
    ///
    /// Case and parameters are ignored. A response without a body need not have a type.
    public var contentTypes: [String]

    /// Creates a validation.
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

    /// The reason to reject a response; nil to accept it.
    func objection(to response: HTTPResponse, hasBody: Bool) -> String? {
        let status = response.status.code
        guard statuses.contains(status) else { return "the server answered \(status)" }
        guard hasBody, !contentTypes.isEmpty else { return nil }
        guard let type = response.headerFields[.contentType].map(Self.mediaType) else {
            return "the response has no media type"
        }
        let isAccepted = contentTypes.contains { accepted in
            let accepted = Self.mediaType(accepted)
            return accepted == "*/*" || accepted == type
                || accepted.hasSuffix("/*") && type.hasPrefix(accepted.dropLast())
        }
        return isAccepted ? nil : "the response has the type \(type)"
    }

    private static func mediaType(_ value: String) -> String {
        let type = value.prefix { $0 != ";" }.lowercased()
        return String(type.drop { $0 == " " }.prefix { $0 != " " })
    }
}
