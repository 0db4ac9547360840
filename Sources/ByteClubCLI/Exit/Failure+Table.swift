import ByteClubCore
import ByteClubFiles
import ByteClubHTTP
import ByteClubMedia
import ByteClubRemotes
import Glibc

extension Failure {
    /// The only place that converts errors to exit codes.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as RemoteError where error.isOfRole:
            self.init(.notAuthorised, error.message)
        case let error as RemoteError:
            self.init(Self.status(of: error.code), Self.message(of: error))
            isOfRoom = error.code == .overQuota
        case let error as BackgroundFailure: self.init(.tryAgain, error.message)
        // Without a URL it is a timeout of the daemon.
        case let error as TransferError where error.code == .timedOut && error.url.isEmpty:
            self.init(.tryAgain, error.message)
        case let error as TransferError: self.init(Self.status(of: error.code), Self.message(of: RemoteError(error)))
        case let error as FileFailure:
            self.init(error.status, error.description)
            isOfRoom = error.code == ENOSPC || error.code == EDQUOT
        case let error as PathError: self.init(.badData, error.message)
        case let error as SyncError:
            var message = error.message
            if case .remote(let remote) = error.code, message == remote.message { message = Self.message(of: remote) }
            self.init(Self.status(of: error.code), message)
        case let error as MediaError: self.init(error.code == .io ? .inputOutput : .badData, error.message)
        case is CancellationError: self.init(.interrupted, "cancelled")
        default: self.init(.inputOutput, "\(error)")
        }
    }

    static func status(of code: RemoteError.Code) -> ExitStatus {
        switch code {
        case .unauthorized: .notAuthorised
        case .notFound: .noInput
        case .forbidden: .cannotCreate
        case .conflict, .rateLimited, .serverFault, .overQuota: .tryAgain
        case .unreachable: .unavailable
        case .cancelled: .interrupted
        case .protocolViolation, .badCursor: .protocolViolation
        case .localFile: .inputOutput
        default: .badData  // badRequest, tooMany, undecodable, tooLarge
        }
    }

    static func status(of code: TransferError.Code) -> ExitStatus {
        switch code {
        case .cancelled: .interrupted
        case .timedOut, .cannotResolveHost, .cannotConnect, .connectionLost, .tls, .proxyRefused, .sessionInvalid:
            .unavailable
        case .fileChanged, .networkNotAllowed: .tryAgain
        case .fileUnreadable: .noInput
        case .cannotWriteFile: .inputOutput
        case .bodyTooLarge, .badRequest: .badData
        case .libraryMissing, .badConfiguration: .configuration
        case .unknownTask: .noInput
        case .daemonUnavailable, .identifierInUse: .tryAgain
        default: .protocolViolation  // tooManyRedirects, insecureRedirect, protocolViolation, other
        }
    }

    static func status(of code: SyncError.Code) -> ExitStatus {
        switch code {
        case .rootMissing, .rootReplaced: .noInput
        case .configuration: .configuration
        case .database, .io: .inputOutput
        case .alreadyRunning: .tryAgain
        case .remote(let error): error.isOfRole ? .notAuthorised : status(of: error.code)
        case .cancelled: .interrupted
        }
    }

    private static let hint = "; sign in again"

    private static func message(of error: RemoteError) -> String {
        var message = error.message
        switch error.code {
        case .unauthorized:
            // Servers end their messages with the first or, if older, the second hint.
            for hint in [Self.hint, "; log in again"] where message.hasSuffix(hint) { message.removeLast(hint.count) }
            message += "\(Self.hint) with 'byteclub login \(error.server ?? "URL")'"
        case .unreachable where error.isOfProxy: message += "; correct or unset the proxy setting"
        case .overQuota: message += "; ask its host for more space"
        case .rateLimited, .serverFault: message += "; try again later"
        default: break
        }
        // The request's ID is only useful to an administrator with the server's log.
        guard let requestID = error.requestID, [.serverFault, .protocolViolation].contains(error.code) else {
            return message
        }
        return message + " (request \(requestID))"
    }
}
