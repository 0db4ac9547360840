import ByteClubCore
import Crypto
import HTTPTypes
import NIOCore

/// The pages with which people sign in, let programs in, shut them out again, take links back and invite others.
struct WebSite: Sendable {
    let store: any AccountStore & LinkStore
    let settings: ClubAPI.Settings
    let csrfKey: SymmetricKey
    let shares: FairShares

    /// Shows a page, or does what its form asks for.
    func answer(_ call: Call, _ handler: (Visit) async throws -> Answer) async throws -> Answer {
        let visit = try await visit(call)
        do {
            if visit.member == nil { try settings.limits.countAnonymous(from: call.client.address) }
            if call.method == .post { try checkForm(call, visit) }
            return try await handler(visit)
        } catch let error as APIError {
            var answer = view(
                "error", ["title": Self.title(error.status), "message": error.message], visit, error.status)
            if let seconds = error.retryAfter { answer.headers[.retryAfter] = String(seconds) }
            return answer
        } catch let error as StorageError where error.code == .badMember || error.code == .lastOwner {
            let status = error.code == .lastOwner ? 409 : 400
            return view("error", ["title": Self.title(status), "message": error.message], visit, status)
        }
    }

    private static func title(_ status: Int) -> String {
        switch status {
        case 403: "Not allowed"
        case 404: "Not found"
        case 429: "Too many attempts"
        case 503: "Too busy"
        default: "That did not work"
        }
    }

    /// A page by its template.
    func view(_ template: String, _ values: [String: Any], _ visit: Visit, _ status: Int = 200) -> Answer {
        var values = values
        values["csrf"] = visit.formToken(csrfKey)
        if let member = visit.member {
            values["member"] = member.name
            values["isOwner"] = member.role == .owner
        }
        var answer = Answer(
            HTTPResponse.Status(code: status), headers: Self.headers,
            body: .bytes(ByteBuffer(string: Templates.render(template, values))))
        if let cookie = visit.newCookie { answer.headers[.setCookie] = cookie }
        return answer
    }

    /// Sends the browser on, with GET.
    func redirect(_ location: String, cookies: [String] = []) -> Answer {
        var answer = Answer(.seeOther, headers: Self.headers, body: .bytes(ByteBuffer()))
        answer.headers[.location] = location
        answer.headers[values: .setCookie] = cookies
        return answer
    }

    /// Sends somebody to where members sign in, and from there back.
    func redirectToSignIn(_ visit: Visit) -> Answer {
        let call = visit.call
        let here =
            call.method == .get
            ? "/" + call.rawPath.drop { $0 == "/" } + (call.query.isEmpty ? "" : "?" + call.query) : "/"
        return redirect("/login?next=" + PercentCoding.encode(here))
    }

    private static let headers: HTTPFields = {
        var headers: HTTPFields = [.contentType: "text/html; charset=UTF-8"]
        headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
        headers[.xFrameOptions] = "DENY"
        headers[.referrerPolicy] = "no-referrer"
        headers[.cacheControl] = "no-store"
        return headers
    }()

    /// Answers `GET /style.css`.
    func style(_: Call) -> Answer {
        Answer(
            .ok, headers: [.contentType: "text/css; charset=UTF-8"], body: .bytes(ByteBuffer(string: Templates.style)))
    }
}

extension HTTPField.Name {
    /// Who may show a page inside another; for browsers that do not know the policy.
    static let xFrameOptions = known("X-Frame-Options")
    /// What a link tells of the page that it is on.
    static let referrerPolicy = known("Referrer-Policy")
}
