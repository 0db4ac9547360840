import ByteClubCore
import ByteClubFiles
import Glibc

extension Context {
    /// Where the token is kept.
    var credentials: CredentialStore { CredentialStore(path: directories.credentialsFile) }

    /// The settings: flags before environment before file.
    func settings(flags: Settings) throws -> Settings {
        let path = directories.settingsFile
        var file = Settings()
        do {
            let text = String(decoding: try LocalFile.read(path, limit: 1 << 20), as: UTF8.self)
            file = try Settings(file: text, path: path)
        } catch let error as FileFailure where error.code == ENOENT || error.code == ENOTDIR {
            // Most people have no such file.
        } catch let error as FileFailure {
            throw Failure(.configuration, error.description)
        }
        return try flags.over(Settings(environment: environment)).over(file)
    }

    /// All that is needed to speak with the server.
    func login(flags: Settings) throws -> Login {
        let settings = try settings(flags: flags)
        // With server and token given, nothing that is stored matters.
        let isComplete = settings.server != nil && settings.token != nil
        do {
            return try Login(settings: settings, credentials: isComplete ? nil : credentials.load())
        } catch let failure as Failure where failure.status == .usage && flags.server == nil {
            // Nobody has typed it.
            let isVariable = environment["BYTECLUB_SERVER"]?.isEmpty == false
            throw Failure(.configuration, isVariable ? "BYTECLUB_SERVER: \(failure.message)" : failure.message)
        }
    }

    /// The same with the stored token alone, for work that continues without this program.
    ///
    /// - Throws: ``Failure`` when no token is stored for the server: `refusal`, if there is one in the environment only.
    func storedLogin(flags: Settings, otherwise refusal: String) throws -> Login {
        var settings = try settings(flags: flags)
        settings.token = nil
        do {
            return try Login(settings: settings, credentials: credentials.load())
        } catch {
            guard environment["BYTECLUB_TOKEN"].map({ !$0.isEmpty }) == true else { throw error }
            throw Failure(.notAuthorised, "\(refusal); run 'byteclub login URL'")
        }
    }

    /// Opens the server of a club and works with it; its sessions end with the last use of the remote.
    ///
    /// Ctrl-C and SIGTERM cancel the work, once it has wound down. A terminal is told when the server lets it wait, unless
    /// the work may take long or winds down, as transfers do, which show their progress.
    func withRemote<Value: Sendable>(
        _ login: Login, _ lane: Connector.Lane = .notes, mayTakeLong: Bool = false, windDown: WindDown? = nil,
        _ work: @escaping @Sendable (any Remote) async throws -> Value
    ) async throws -> Value {
        let remote = try connector.open(login, lane)
        let isSilent = mayTakeLong || lane == .mirror || windDown != nil
        return try await using(remote, of: login, mayTakeLong: isSilent, windDown: windDown, work)
    }

    /// Works with a server that is open already, as ``withRemote(_:_:mayTakeLong:windDown:_:)`` does.
    func using<Value: Sendable>(
        _ remote: any Remote, of login: Login, mayTakeLong isSilent: Bool = false, windDown: WindDown? = nil,
        _ work: @escaping @Sendable (any Remote) async throws -> Value
    ) async throws -> Value {
        try await waiting(for: isSilent ? nil : login.server) {
            try await interrupts.cancelling(windDown) { try await work(remote) }
        }
    }

    /// Does what asks a server, if any, and tells a terminal while that takes long, below all that is printed.
    func waiting<Value: Sendable>(
        for server: ServerAddress?, _ work: () async throws -> Value
    ) async throws -> Value {
        guard let server, terminal.isErrorTerminal else { return try await work() }
        let line = statusLine
        let sign = Task {
            try await Task.sleep(for: serverPatience)
            let text = "waiting for the club at \(server.host) …"
            try line.showUnlessInUse(DisplayWidth.shortened(text, to: max(1, (terminal.columns() ?? 80) - 1)))
        }
        // The line is taken away once nobody draws it any more.
        let result: Result<Value, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        sign.cancel()
        if case .success = await sign.result { try? line.clear() }
        return try result.get()
    }
}
