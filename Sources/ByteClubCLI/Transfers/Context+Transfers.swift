import ByteClubCore
import ByteClubHTTP

extension Context {
    /// The session that photos in the background belong to.
    static let photoTransfers = "photos"

    /// Where background transfers are kept, and who does them.
    func transferService() throws -> BackgroundService {
        guard let executable else {
            throw Failure(.configuration, "this program's executable cannot be found; start it by its path")
        }
        // The daemon is the small one of our programs.
        let program = SiblingProgram.client.candidates(environment, executable: executable).first {
            LocalFile.exists($0)
        }
        let isClient = LocalFile.name(of: executable) == SiblingProgram.client.name
        return BackgroundService(
            folder: directories.transfers, command: [isClient ? executable : program ?? executable, "daemon"])
    }

    /// Asks the daemon something that a signal ends the wait for.
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

    /// The server as transfers record it, once it is known that the daemon will find a token for it.
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

    /// The stored login for a recorded transfer; tokens of the environment are for another program's server.
    ///
    /// - Throws: ``Failure`` when nobody is logged in there, or another member than it was recorded for.
    func login(for server: TransferServer) throws -> Login {
        var settings = Settings()
        settings.server = server.address
        settings.certificateAuthorityFile = server.certificateAuthorityFile
        settings.pin = server.pin
        settings.allowsInsecureHTTP = server.allowsInsecureHTTP
        let login = try Login(settings: settings, credentials: credentials.load())
        if let member = server.member, let present = login.member, member != present {
            throw Failure(
                .notAuthorised, "queued by \(member), but \(present) is signed in; cancel it, or sign in as \(member)"
            )
        }
        return login
    }
}
