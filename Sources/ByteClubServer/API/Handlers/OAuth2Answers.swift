import ByteClubCore
import FoundationEssentials
import HTTPTypes

/// How a program says by OAuth 2.0 which one it is.
enum OAuth2Client {
    /// The app's key and secret, from HTTP Basic or the form.
    static func credentials(in request: RoutedRequest) throws(APIError) -> (key: String?, secret: String?) {
        guard let header = request.headers[.authorization] else {
            return (request.parameters["client_id"], request.parameters["client_secret"])
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let data = Data(base64Encoded: String(parts[1])),
            let text = String(validating: data, as: UTF8.self)
        else { throw APIError(400, "the Authorization header is malformed") }
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let values = halves.map { PercentEncoding.decode($0, plusIsBlank: true) }
        return (values.first.flatMap { $0 }, values.dropFirst().first.flatMap { $0 })
    }
}

/// A refusal as RFC 6749 section 5.2 words it.
struct OAuth2Refusal: JSONWritable {
    let error: String
    let description: String
    var status = HTTPResponse.Status.badRequest

    var response: Response {
        var response = Response.json(self, status: status)
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Basic realm=\"byteclub\"" }
        return response
    }

    /// The app's key or its secret is not known.
    static let invalidClient = OAuth2Refusal(
        error: "invalid_client", description: "the app key or its secret is wrong", status: .unauthorized)

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("error", error)
            json.member("error_description", description)
        }
    }
}

extension Response {
    /// An answer with a secret in it, which no cache may keep (RFC 6749 section 5.1).
    static func secret(_ value: some JSONWritable) -> Response {
        var response = json(value)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

/// A token for a program; the member's number is a text here, unlike in the account.
struct OAuth2Token: JSONWritable {
    let token: String
    let uid: Int64?

    var response: Response { .secret(self) }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("access_token", token)
            json.member("token_type", "bearer")
            if let uid {
                json.member("uid", String(uid))
            }
        }
    }
}
