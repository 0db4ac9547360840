extension TransferError {
    /// What went wrong.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case cancelled, timedOut, cannotResolveHost, cannotConnect, connectionLost, tls, tooManyRedirects
            case insecureRedirect, fileChanged, fileUnreadable, cannotWriteFile, bodyTooLarge, badRequest
            case sessionInvalid, protocolViolation, libraryMissing, resumeDataUnusable, other
            case adapterFailed, authenticationFailed, unacceptableResponse
            case badConfiguration, bodyFailed, notStored, proxyRefused
            case daemonUnavailable, identifierInUse, unknownTask
        }

        private let kind: Kind

        private init(kind: Kind) { self.kind = kind }

        /// ``SessionTask/cancel()`` was called, or the surrounding Swift task was cancelled.
        public static let cancelled = Code(kind: .cancelled)
        /// Connecting took too long, nothing moved for too long, or the time for the whole task is over; or the daemon of
        /// background transfers does not answer.
        public static let timedOut = Code(kind: .timedOut)
        /// The host has no address.
        public static let cannotResolveHost = Code(kind: .cannotResolveHost)
        /// No connection could be made.
        public static let cannotConnect = Code(kind: .cannotConnect)
        /// The connection ended before the response was whole.
        public static let connectionLost = Code(kind: .connectionLost)
        /// The TLS handshake failed, or the certificate is not trusted.
        public static let tls = Code(kind: .tls)
        /// More than 20 redirects.
        public static let tooManyRedirects = Code(kind: .tooManyRedirects)
        /// A redirect from https to http, which is never followed.
        public static let insecureRedirect = Code(kind: .insecureRedirect)
        /// The file to upload changed while it was sent.
        public static let fileChanged = Code(kind: .fileChanged)
        /// The file to upload cannot be read, or is none.
        public static let fileUnreadable = Code(kind: .fileUnreadable)
        /// The file to download to cannot be written, for example because the disk is full.
        public static let cannotWriteFile = Code(kind: .cannotWriteFile)
        /// The response is larger than ``TaskOptions/maximumResponseBytes``.
        public static let bodyTooLarge = Code(kind: .bodyTooLarge)
        /// The request cannot be sent as it is; nothing was sent.
        public static let badRequest = Code(kind: .badRequest)
        /// The session is, or is being, invalidated.
        public static let sessionInvalid = Code(kind: .sessionInvalid)
        /// The server's answer breaks HTTP.
        public static let protocolViolation = Code(kind: .protocolViolation)
        /// libcurl is not installed, or not usable.
        public static let libraryMissing = Code(kind: .libraryMissing)
        /// Stored resume data are cut off, damaged or of another version.
        public static let resumeDataUnusable = Code(kind: .resumeDataUnusable)
        /// A ``RequestAdapter`` threw; see ``TransferError/underlying``.
        public static let adapterFailed = Code(kind: .adapterFailed)
        /// There is no credential that the server takes: an ``Authenticator`` threw, or renewed too often.
        public static let authenticationFailed = Code(kind: .authenticationFailed)
        /// The response is not what the ``ResponseValidation`` accepts; see ``TransferError/rejected``.
        public static let unacceptableResponse = Code(kind: .unacceptableResponse)
        /// The session's settings contradict each other, or cannot be used.
        public static let badConfiguration = Code(kind: .badConfiguration)
        /// The stream that a body comes from failed or ended early, or would have to be sent a second time.
        public static let bodyFailed = Code(kind: .bodyFailed)
        /// The cache has no answer, and ``CachePolicy/storedOnly`` or `only-if-cached` asks nobody else.
        public static let notStored = Code(kind: .notStored)
        /// The proxy makes no connection to the server, for example since it wants to know who asks.
        public static let proxyRefused = Code(kind: .proxyRefused)
        /// The daemon of background transfers cannot be started or reached, or speaks another version.
        public static let daemonUnavailable = Code(kind: .daemonUnavailable)
        /// Another ``BackgroundSession`` has the identifier.
        public static let identifierInUse = Code(kind: .identifierInUse)
        /// There is no background task of that name.
        public static let unknownTask = Code(kind: .unknownTask)
        /// Anything else; see ``TransferError/curlCode``.
        public static let other = Code(kind: .other)

        /// The code of a name that ``description`` gave; nil for another one.
        init?(named name: String) {
            guard let kind = Kind(rawValue: name) else { return nil }
            self.init(kind: kind)
        }

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// What a task is doing.
    public enum Phase: String, Sendable, Hashable {
        /// Waiting for its turn, or not started.
        case queue
        /// Looking the host's name up.
        case resolve
        /// Connecting.
        case connect
        /// In the TLS handshake.
        case tls
        /// Sending the request.
        case send
        /// Waiting for the response.
        case wait
        /// Receiving the response.
        case receive
        /// Reading or writing a local file.
        case file
    }
}
