import Glibc
import Synchronization

/// A real `byteclub-server` on a free loopback port, which can be stopped, killed and started again on the same data.
public final class ServerProcess: Sendable {
    /// Why there is no server.
    public struct ServerError: Error, CustomStringConvertible {
        /// What was expected and what the program did.
        public let description: String
    }

    private struct State {
        var process: SpawnedProcess?
        var port: UInt16 = 0
    }

    /// The server's data directory.
    public let data: String
    private let arguments: [String]
    private let environment: [String: String]
    private let programs: String
    private let lifetime: Duration
    private let scheme: String
    private let state = Mutex(State())

    /// Starts a server on a data directory and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - data: The directory; the server makes it when it is missing.
    ///   - arguments: Further ones, for example for TLS.
    ///   - environment: What the server gets besides ``Program/environment``.
    ///   - programs: The folder of the programs, for another release's.
    ///   - lifetime: After which the server is killed.
    /// - Throws: ``ServerError`` when the server does not say that it listens.
    public init(
        data: String, arguments: [String] = [], environment: [String: String] = [:],
        programs: String = Program.directory, lifetime: Duration = .seconds(900)
    ) async throws {
        self.data = data
        self.arguments = arguments
        self.environment = environment
        self.programs = programs
        self.lifetime = lifetime
        scheme = arguments.contains(where: ["--tls-certificate", "--tls-self-signed"].contains) ? "https" : "http"
        try await start()
    }

    deinit {
        let process = state.withLock { $0.process }
        process?.kill9()
    }

    /// The port the server listens on; it stays the same when the server is started again.
    public var port: UInt16 { state.withLock { $0.port } }
    /// The server's address, for example `http://127.0.0.1:41234`.
    public var url: String { "\(scheme)://127.0.0.1:\(port)" }
    /// The running process; nil when it was stopped or killed.
    public var process: SpawnedProcess? { state.withLock { $0.process } }

    /// Starts the server, again on the same port.
    public func start() async throws {
        let process = try Program.start(
            programs + "/byteclub-server", ["--data", data, "--listen", "127.0.0.1:\(port)"] + arguments,
            environment: environment, timeout: lifetime)
        let line = await process.line { $0.hasPrefix("listening on ") }
        guard let line, let port = line.split(separator: ":").last.flatMap({ UInt16($0) }),
            line == "listening on \(scheme)://127.0.0.1:\(port)"
        else {
            process.kill9()
            throw ServerError(description: "no line 'listening on URL' but: \(await process.result())")
        }
        state.withLock {
            $0.process = process
            $0.port = port
        }
    }

    /// Asks the server to end and waits for that.
    @discardableResult
    public func stop() async -> ProgramResult? {
        process?.send(SIGTERM)
        return await ended()
    }

    /// Ends the server as a crash would.
    @discardableResult
    public func kill9() async -> ProgramResult? {
        process?.kill9()
        return await ended()
    }

    private func ended() async -> ProgramResult? {
        let process = state.withLock { state -> SpawnedProcess? in
            defer { state.process = nil }
            return state.process
        }
        return await process?.result()
    }

    /// Makes a member, an editor unless it is the first or another role is named, and returns the bearer token.
    public func addMember(_ name: String, role: String? = nil) async throws -> String {
        let result = try await Program.run(
            programs + "/byteclub",
            ["members", "add", name, "--data", data] + (role.map { ["--role", $0] } ?? []))
        guard result.status == 0, let token = result.lines.first, result.lines.count == 1, !token.isEmpty else {
            throw ServerError(description: "no token: \(result)")
        }
        return token
    }

    /// Gives a member a password for the sign-in page.
    public func setPassword(_ password: String, of name: String) async throws {
        let result = try await Program.run(
            programs + "/byteclub", ["members", "password", name, "--data", data], input: Array((password + "\n").utf8))
        guard result.status == 0 else { throw ServerError(description: "no password: \(result)") }
    }
}
