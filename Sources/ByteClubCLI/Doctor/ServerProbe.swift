import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes
import Glibc
import HTTPTypes

/// A server's raw answer to the request for the member's account, for a diagnosis.
struct ServerProbe: Sendable {
    /// The status of `/1/account/info`.
    var status: Int
    /// The server's clock, from its `Date` header.
    var date: APIDate?
    /// The body.
    var body: [UInt8]
    /// How long the answer took.
    var seconds: Double

    /// Sends one request, without retries.
    @Sendable static func ask(_ login: Login) async throws -> ServerProbe {
        var configuration = CoreAPIv1Remote.sessionConfiguration(
            token: login.token, certificateAuthorityFile: login.certificateAuthorityFile,
            pinnedKeys: login.pinnedKeys)
        configuration.retryPolicy = .never
        configuration.connectTimeout = .seconds(10)
        configuration.timeoutForRequest = .seconds(10)
        let session = try Session(configuration: configuration, name: "doctor")
        let request = request(login)
        let start = ContinuousClock.now
        let (bytes, response) = try await session.data(for: request)
        return ServerProbe(
            status: response.status.code, date: response.headerFields[.date].flatMap { APIDate($0) },
            body: Array(bytes),
            seconds: start.duration(to: .now) / .seconds(1))
    }

    /// The question.
    static func request(_ login: Login) -> HTTPRequest {
        let (origin, host) = (login.server.origin, login.server.host)
        let scheme = origin.prefix { $0 != ":" }
        return HTTPRequest(
            method: .get, scheme: String(scheme), authority: String(host),
            path: origin.dropFirst(scheme.count + 3 + host.count) + "/1/account/info")
    }
}

extension TransferError.Code {
    /// How to fix it.
    var advice: String? {
        switch self {
        case .cannotResolveHost: "check the name in the server's address, and this machine's network"
        case .cannotConnect: "check that the server is running and that no firewall blocks it"
        case .timedOut: "check this machine's network, and whether the server is overloaded"
        case .tls:
            "ask the club's owner for the link with the server's key (…#sha256=…), and run 'byteclub logout' first "
                + "if it has changed; for your own CA use --ca-file"
        case .libraryMissing: "install libcurl"
        default: nil
        }
    }
}
