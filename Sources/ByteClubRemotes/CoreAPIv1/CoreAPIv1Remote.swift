public import ByteClubCore
public import ByteClubHTTP
import HTTPTypes
import Synchronization

/// A server that speaks Dropbox Core API v1: `byteclub-server`, or any other.
///
/// Authorization is not its business: the sessions carry it, see
/// ``sessionConfiguration(token:certificateAuthorityFile:pinnedKeys:)``.
public struct CoreAPIv1Remote: Remote {
    /// The most bytes per second that a ``put(_:at:condition:policy:progress:)`` or a download moves; nil for no limit.
    ///
    /// A lower ``TransferRate`` has priority.
    public var rateLimit: Int?

    /// How large the pieces of uploads are; several remotes for one line may share it.
    public var pieces = UploadPieces()

    /// How much later than it was asked to the server may answer a wait for a change.
    ///
    /// Otherwise a proxy that keeps the connection of a dead server would leave the client without events for long.
    package var answerDelay = Duration.seconds(10)

    let transport: Transport
    /// The session for the bytes of files, which may allow fewer tasks at once than the other.
    let contentSession: WarmSession
    /// The root word in front of every path.
    let root: String

    /// Creates a remote for a server.
    ///
    /// - Parameters:
    ///   - origin: The server's address, such as `https://club.example`; plain http only to this machine.
    ///   - root: `auto`, `dropbox` or `sandbox`.
    ///   - api: The session for everything but the bytes of files.
    ///   - content: The session for the bytes of files; nil for the same one.
    ///   - allowsInsecureHTTP: Whether plain http may go to other machines, tokens and all.
    /// - Throws: `badRequest` when the address cannot be used.
    public init(
        origin: String, root: String = "auto", api: Session, content: Session? = nil, allowsInsecureHTTP: Bool = false
    ) throws(RemoteError) {
        let content = content.map { WarmSession($0) }
        try self.init(
            origin: origin, root: root, over: WarmSession(api), content: content,
            allowsInsecureHTTP: allowsInsecureHTTP)
    }

    /// Creates a remote for a server in the same way, over sessions that may not have been started.
    package init(
        origin: String, root: String = "auto", over api: WarmSession, content: WarmSession? = nil,
        allowsInsecureHTTP: Bool = false
    ) throws(RemoteError) {
        let address = try ServiceOrigin(origin, allowsInsecureHTTP: allowsInsecureHTTP)
        transport = Transport(origin: address, session: api)
        contentSession = content ?? api
        self.root = root
    }

    /// Settings of a session that leaves no trace and sends one member's token with every request to its server.
    ///
    /// - Parameters:
    ///   - token: The member's bearer token.
    ///   - certificateAuthorityFile: A PEM file of authorities to trust instead of the system's.
    ///   - pinnedKeys: The public keys one of which the server must have; empty for any key.
    /// - Returns: Settings to make a session with, and to change further.
    public static func sessionConfiguration(
        token: String, certificateAuthorityFile: String? = nil, pinnedKeys: Set<PublicKeyPin> = []
    ) -> SessionConfiguration {
        var configuration = SessionConfiguration.ephemeral
        configuration.additionalHeaders[.authorization] = "Bearer \(token)"
        configuration.certificateAuthorityFile = certificateAuthorityFile
        configuration.pinnedKeys = pinnedKeys
        return configuration
    }

    /// The address of an operation on a path: `/1/<operation>/<root>/<path>`.
    func address(_ operation: String, _ path: RemotePath) -> String {
        "\(operation)/\(PercentEncoding.encode(root))\(PercentEncoding.encode(path))"
    }

    /// What a task does differently that waits up to so many seconds for a change.
    func waitingOptions(_ seconds: Int64) -> TaskOptions {
        var options = TaskOptions.coreAPIv1
        if seconds == 0 { return options }
        options.timeoutForRequest = .seconds(seconds) + answerDelay
        options.retries = false
        return options
    }

    /// How many bytes of a file the next request may send.
    func pieceBytes() throws(RemoteError) -> Int64 {
        let session: Session
        do { session = try contentSession.session } catch { throw RemoteError(error) }
        return pieces.bytes(at: [contentOptions.rateLimit, session.rateLimit].compactMap(\.self).min())
    }

    /// What a task that moves a file's bytes does differently.
    var contentOptions: TaskOptions {
        var options = TaskOptions.coreAPIv1
        options.rateLimit = [rateLimit, TransferRate.limit].compactMap(\.self).min()
        return options
    }

    /// Sends a body over the session for the bytes of files.
    ///
    /// `offset` is how many bytes of the content were moved before.
    func upload(
        _ body: Body, for request: HTTPRequest, statuses: Set<Int> = [200], _ options: TaskOptions,
        _ progress: UploadProgress? = nil, from offset: Int64 = 0
    ) async throws(RemoteError) -> Transport.Answer {
        try await transport.perform(request, statuses: statuses, from: offset) { () async throws(TransferError) in
            try await contentSession.session.upload(
                for: request, from: body, options: options, progress: UploadProgress.counting(progress, from: offset))
        }
    }
}

/// What a remote has learned of its server from the answers to its requests.
final class ServerExperience: Sendable {
    private let state = Mutex((hasAnswered: false, takesNoPieces: false, account: Account?.none))

    /// Whether it has answered, so that the address is right.
    var hasAnswered: Bool {
        get { state.withLock { $0.hasAnswered } }
        set { state.withLock { $0.hasAnswered = newValue } }
    }

    /// Whether it is known to take no uploads in pieces, as some servers of Core API v1.
    var takesNoPieces: Bool {
        get { state.withLock { $0.takesNoPieces } }
        set { state.withLock { $0.takesNoPieces = newValue } }
    }

    /// The account as it was described last, with the server's extensions; cached to fetch it only once.
    var account: Account? {
        get { state.withLock { $0.account } }
        set { state.withLock { $0.account = newValue } }
    }
}
