import ByteClubCore
import Crypto
import HTTPTypes

/// A request of a browser, with its session and the token of its forms.
struct Visit {
    /// How long a session lasts, in seconds.
    static let lifetime: Int64 = 30 * 86_400

    /// The request.
    private(set) var request: RoutedRequest
    /// The secret in the browser's cookie, or a new one, which is no session until a member signs in.
    let secret: String
    /// The signed-in member.
    let member: Member?
    /// The cookie to set; nil when the browser has one.
    let newCookie: String?

    /// The requester that is charged for the request.
    var requester: Requester { member.map { .member($0.uid) } ?? request.requester }

    /// Reads the form, when there is one, as ``RoutedRequest/readForm(in:for:)`` does.
    mutating func readForm(in memory: FairSemaphore) async throws {
        try await request.readForm(in: memory, for: requester)
    }

    /// A value of the query or the form.
    subscript(_ name: String) -> String? { request.parameters[name] }

    /// The token that a form must send back, so that no other site can send it (RFC 9700 section 4.7).
    func formToken(_ key: SymmetricKey) -> String {
        Hexadecimal.encode(Array(HMAC<SHA256>.authenticationCode(for: Array("form \(secret)".utf8), using: key)))
    }
}

extension WebSite {
    /// Reads the session from the cookie.
    func visit(_ request: RoutedRequest) async throws -> Visit {
        if let known = value(of: .session, in: request), known.utf8.count == 64 {
            let member = try await store.webSession(known)
            if member != nil { request.request.open.rest(on: .session(known)) }
            return Visit(request: request, secret: known, member: member, newCookie: nil)
        }
        let secret = Secret.text(bytes: 32)
        return Visit(request: request, secret: secret, member: nil, newCookie: cookie(secret, for: request))
    }

    /// A cookie's value; nil when the browser sent none.
    func value(of cookie: Cookie, in request: RoutedRequest) -> String? {
        let start = cookieName(cookie, request) + "="
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        return pairs.lazy.map { $0.drop { $0 == " " } }.first { $0.hasPrefix(start) }
            .map { String($0.dropFirst(start.utf8.count)) }
    }

    /// Refuses a form, with this token in it, that did not come from a page of this site.
    ///
    /// - Throws: ``APIError`` 403.
    func checkForm(_ request: RoutedRequest, _ visit: Visit, token: String?) throws(APIError) {
        guard isForm(request, visit, token: token) else { throw Self.oldForm }
    }

    /// Whether a form came from a page of this site in this session.
    func isForm(_ request: RoutedRequest, _ visit: Visit, token: String?) -> Bool {
        let isOurs = token.map { ConstantTime.equal($0, visit.formToken(csrfKey)) } ?? false
        return isOurs && (request.site == nil || request.isFromOwnPage || request.site == "none")
    }

    /// The cookies of the site.
    enum Cookie: String {
        /// The secret of a session.
        case session = "byteclub"
        /// A member has signed in there before (``KnownBrowser``).
        case knownBrowser = "byteclub-browser"
        /// The password of a link was sent there (``SharePass``).
        case sharePass = "byteclub-share"
        /// The gallery shows the card for new members there (``Welcome``).
        case welcome = "byteclub-welcome"
    }

    /// A cookie to set; on plain HTTP, which is for loopback, without the mark that browsers need TLS for.
    func cookie(
        _ value: String, _ cookie: Cookie = .session, for request: RoutedRequest, lifetime: Int64? = nil,
        path: String = "/"
    ) -> String {
        let age = lifetime.map { "; Max-Age=\($0)" } ?? ""
        let safety = "; Path=\(path); HttpOnly; SameSite=Lax" + (usesTLS(request) ? "; Secure" : "")
        return "\(cookieName(cookie, request))=\(value)" + safety + age
    }

    private func usesTLS(_ request: RoutedRequest) -> Bool {
        settings.origin(for: request.client).lowercased().hasPrefix("https://")
    }

    private func cookieName(_ cookie: Cookie, _ request: RoutedRequest) -> String {
        // Browsers take a cookie of the first kind for the whole site alone (RFC 6265bis section 4.1.3).
        (usesTLS(request) ? cookie == .sharePass ? "__Secure-" : "__Host-" : "") + cookie.rawValue
    }
}

extension RoutedRequest {
    /// The relation of the page that caused the request to this site, according to the browser; nil when it sends none.
    fileprivate var site: String? { HTTPField.Name("Sec-Fetch-Site").flatMap { headers[$0] } }

    /// Whether a page of this server caused the request, according to the browser.
    var isFromOwnPage: Bool { site == "same-origin" }
}

/// A browser in which a member has signed in, recognised by a cookie that outlives the session.
///
/// The cookie grants no access. It only keeps others' guesses at the name from delaying its member in this browser. An
/// address could not do that: machines travel, and strangers share addresses. Nothing of it is stored here.
struct KnownBrowser: Hashable, Sendable {
    /// How long a cookie is good for, in seconds.
    static let lifetime: Int64 = 365 * 86_400

    /// A random text that identifies the browser.
    private let number: String
    /// When the cookie is no longer good, in seconds since 1970.
    private let expires: Int64

    /// A browser in which a member has just signed in.
    init(now: Int64) {
        number = Secret.text(bytes: 16)
        expires = now + Self.lifetime
    }

    /// Reads a cookie; nil when it was not made here for this name, folded, or is too old.
    init?(cookie: String, name: String, key: SymmetricKey, now: Int64) {
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 32, let expires = Int64(parts[1]), expires > now else {
            return nil
        }
        number = String(parts[0])
        self.expires = expires
        guard ConstantTime.equal(cookie, self.cookie(name: name, key: key)) else { return nil }
    }

    /// The cookie's value: the number and the time, signed together with the name.
    func cookie(name: String, key: SymmetricKey) -> String {
        let signed = Array("browser \(number) \(expires) \(name)".utf8)
        return "\(number).\(expires)."
            + Hexadecimal.encode(Array(HMAC<SHA256>.authenticationCode(for: signed, using: key)))
    }
}
