import ByteClubCore
import ByteClubHTTP

extension Context {
    /// The daemon's session for photos.
    static let photoTransfers = "photos"

    /// The queue of background transfers, and the program that runs them.
    func transferService() throws -> BackgroundService {
        guard let executable else {
            throw Failure(.configuration, "this program's executable cannot be found; start it by its path")
        }
        // The daemon runs in the small program.
        let program = SiblingProgram.client.candidates(environment, executable: executable).first {
            LocalFile.exists($0)
        }
        let isClient = LocalFile.name(of: executable) == SiblingProgram.client.name
        return BackgroundService(
            folder: directories.transfers, command: [isClient ? executable : program ?? executable, "daemon"])
    }

    /// Sends a request to the daemon; a signal ends the wait.
    func withTransfers<Value: Sendable>(
        _ work: @escaping @Sendable (BackgroundControl?) async throws -> Value
    ) async throws -> Value {
        try await interrupts.cancelling {
            let control = try await BackgroundControl.looking(at: transferService())
            do {
                let value = try await work(control)
                await control?.close()
                return value
            } catch {
                await control?.close()
                throw error
            }
        }
    }

    /// The server for the record of a transfer, after checking that the daemon will find a token for it.
    func transferServer(flags: Settings) throws -> (server: TransferServer, login: Login) {
        let login = try storedLogin(
            flags: flags, otherwise: "background transfers need a stored login, not BYTECLUB_TOKEN")
        let settings = try settings(flags: flags)
        let server = TransferServer(
            address: login.server.origin, member: login.member,
            certificateAuthorityFile: try settings.certificateAuthorityFile.map {
                try LocalFile.absolute($0, in: workingDirectory())
            }, pin: settings.pin, allowsInsecureHTTP: login.allowsInsecureHTTP)
        return (server, login)
    }

    /// The stored login for a recorded transfer; BYTECLUB_TOKEN may be for another server.
    ///
    /// - Throws: ``Failure`` without a login for that server, or with that of another member.
    func login(for server: TransferServer) throws -> Login {
        let settings = Settings(
            server: server.address, certificateAuthorityFile: server.certificateAuthorityFile, pin: server.pin,
            allowsInsecureHTTP: server.allowsInsecureHTTP)
        let login = try Login(settings: settings, credentials: credentials.load())
        if let member = server.member, let present = login.member, member != present {
            throw Failure(
                .notAuthorised, "queued by \(member), but \(present) is signed in; cancel it, or sign in as \(member)"
            )
        }
        return login
    }
}

extension BackgroundFailure {
    /// Converts an error of a photo's transfer.
    init(_ error: any Error) {
        let failure = Failure(error)
        var (code, isRetryable, retryAfter) = ("\(failure.status)", false, Int64?.none)
        switch error {
        case let error as RemoteError:
            (code, isRetryable) = (error.code.description, error.isRetryable)
            retryAfter = error.retryAfter.map { Int64($0.rounded(.up)) }
        case let error as TransferError:
            (code, isRetryable) = (error.code.description, error.isRetryable || failure.status == .unavailable)
        default: break
        }
        var message = Failure.line(failure.message)
        if failure.status == .notAuthorised || failure.status == .configuration {
            message += "; then run 'byteclub transfers resume --all'"
        }
        self.init(code: code, message: message, isRetryable: isRetryable, retryAfter: retryAfter)
    }

    /// Performs work and converts its error; a cancellation is not converted.
    static func telling<Value>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch {
            if Task.isCancelled { throw CancellationError() }
            throw BackgroundFailure(error)
        }
    }
}
