import ByteClubCore
import Crypto
import HTTPTypes
import NIOCore

/// The pages on which people see notes and photos, sign in, grant and revoke access of programs, revoke links and
/// invite others.
struct WebSite: Sendable {
    let store: any ClubStore
    let media: MediaInfoReader
    let settings: ClubAPI.Settings
    let csrfKey: SymmetricKey
    let shares: SharedLimits
    let signIns: DeviceSignIns
    let editors = NoteEditors()

    /// The club's name; nil for none.
    var clubName: String? { settings.clubName(in: store) }

    /// Shows a page, or handles its form; returns the visit too, to which the answer is charged.
    func respond(
        to request: RoutedRequest, _ handler: (Visit) async throws -> Response
    ) async throws -> (response: Response, visit: Visit) {
        var visit = try await visit(request)
        return (try await respond(to: &visit, handler), visit)
    }

    private func respond(
        to visit: inout Visit, _ handler: (Visit) async throws -> Response
    ) async throws -> Response {
        do {
            // The form is read before any refusal, so that the answer contains its text.
            do {
                try await visit.readForm(in: shares.forms)
            } catch let error as APIError {
                try count(visit)
                throw error
            }
            try count(visit)
            let request = visit.request
            // The handler of an upload reads its form piece by piece, and checks it.
            if request.method == .post, request.endpoint.cost.body == .form {
                if let kept = signInKeepingText(visit) { return kept }
                try checkForm(request, visit, token: visit["csrf"])
            }
            return try await handler(visit)
        } catch let error as APIError {
            return refusal(error, visit, text: ownText(visit))
        } catch let error as StorageError where Self.isVisitorsFault(error.code) {
            let status = error.code == .lastOwner ? 409 : 400
            return view(.error, Self.problem(status, error.message), visit, status)
        }
    }

    /// Counts a request of a browser: for the signed-in member, else as one without an account.
    ///
    /// - Throws: ``APIError`` 429 when it is one too many.
    func count(_ visit: Visit) throws(APIError) {
        if let member = visit.member {
            try settings.limits.count(member.uid, isOAuth1: false)
        } else {
            try settings.limits.countAnonymous(from: visit.request.client.address)
        }
    }

    /// The page of an error, with the text of the form, so that it is not lost.
    func refusal(_ error: APIError, _ visit: Visit, text: String?) -> Response {
        var response = view(.error, Self.problem(error.status, error.message, text: text), visit, error.status)
        if let seconds = error.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }

    private static func isVisitorsFault(_ code: StorageError.Code) -> Bool {
        switch code {
        case .badMember, .noMember, .nameTaken, .lastOwner: true
        default: false
        }
    }

    /// The values of an error's page, with the text of a form.
    private static func problem(
        _ status: Int, _ message: String, text: String? = nil
    ) -> (title: String, message: String, text: String?) {
        let title =
            switch status {
            case 403: "Not allowed"
            case 404: "Not found"
            case 429: "Too many attempts"
            case 503: "Too busy"
            default: "Something went wrong"
            }
        return (title, message, text)
    }

    /// A page by its template, with the page's own values.
    func view(
        _ template: Template, _ own: Any, _ visit: Visit, _ status: Int = 200, policy: String = formPolicy
    ) -> Response {
        let values = PageView(own: own, csrf: visit.formToken(csrfKey), club: clubName, member: visit.member)
        var response = Response(
            HTTPResponse.Status(code: status), headers: Self.headers,
            body: .bytes(ByteBuffer(string: template.render(values))))
        response.headers[.contentSecurityPolicy] = policy
        if let cookie = visit.newCookie { response.headers[.setCookie] = cookie }
        return response
    }

    /// Sends the browser on, with GET.
    func redirect(_ location: String, cookies: [String] = []) -> Response {
        var response = Response(.seeOther, headers: Self.headers, body: .bytes(ByteBuffer()))
        response.headers[.location] = location
        response.headers[values: .setCookie] = cookies
        return response
    }

    /// Redirects to the sign-in page, and from there back.
    func redirectToSignIn(_ visit: Visit) -> Response {
        let request = visit.request
        let here =
            request.method == .get
            ? "/" + request.rawPath.drop { $0 == "/" } + (request.query.isEmpty ? "" : "?" + request.query) : "/"
        return redirect("/login?next=" + PercentEncoding.encode(here))
    }

    /// The policy for a page without pictures.
    static let formPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'
        """

    /// The policy for a page with pictures: only resources of this site, and none within the page.
    static let picturePolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
        manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """

    private static let headers: HTTPFields = {
        var headers: HTTPFields = [.contentType: "text/html; charset=UTF-8"]
        headers[.contentSecurityPolicy] = formPolicy
        headers[.xFrameOptions] = "DENY"
        headers[.referrerPolicy] = "no-referrer"
        headers[.cacheControl] = "no-store"
        return headers
    }()

    /// The page for an unknown address.
    func unknownPage() -> Response {
        let values = PageView(own: Self.problem(404, "Page not found."), csrf: "", club: clubName, member: nil)
        return Response(
            .notFound, headers: Self.headers, body: .bytes(ByteBuffer(string: Template.error.render(values))))
    }

    /// Answers `GET /favicon.ico`, for browsers that do not read the page's own.
    func icon(_: RoutedRequest) -> Response {
        var response = redirect("/assets/logo.svg")
        response.headers[.cacheControl] = "public, max-age=86400"
        return response
    }

    /// Answers `GET /manifest.webmanifest`, by which browsers install the club's page (W3C Web Application Manifest).
    func manifest(_: RoutedRequest) -> Response {
        let name = clubName ?? "ByteClub"
        var text = JSONText()
        text.object { object in
            object.member("name", name)
            object.member("short_name", name)
            object.member("start_url", "/gallery")
            object.member("display", "standalone")
            object.member("background_color", "#101418")
            object.member("theme_color", "#101418")
            object.key("icons")
            object.array { icons in
                icons.object { icon in
                    icon.member("src", "/assets/logo.svg")
                    icon.member("sizes", "any")
                    icon.member("type", "image/svg+xml")
                }
            }
        }
        return Response(
            .ok, headers: [.contentType: "application/manifest+json", .cacheControl: "public, max-age=300"],
            body: .bytes(ByteBuffer(bytes: text.bytes)))
    }
}

extension HTTPField.Name {
    /// The sites that may frame a page; for browsers without support for the policy.
    static let xFrameOptions = known("X-Frame-Options")
    /// The referrer that a page's links send.
    static let referrerPolicy = known("Referrer-Policy")
}
