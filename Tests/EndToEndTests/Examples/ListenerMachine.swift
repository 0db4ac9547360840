import ByteClubHTTP
import Glibc
import TestSupport
import Testing

/// Somebody who uses one of the examples, with a home of their own, beside a catalogue's server.
final class ListenerMachine: Sendable {
    let server: CatalogueServer
    let folder: String
    private let program: String
    private let home: TemporaryDirectory

    init(_ program: String, _ catalogue: Catalogue = .sample) throws {
        self.program = program
        server = try CatalogueServer(catalogue)
        home = try TemporaryDirectory()
        folder = home.path + "/music"
    }

    /// Where the program keeps what it has to remember.
    var state: String { "\(home.path)/state/\(program)" }

    /// The process of the program's daemon; nil when none runs.
    var daemon: pid_t? { UnixSocketOwner.process(at: state + "/transfers/daemon.sock") }

    /// Runs the program to its end.
    func run(_ arguments: String..., terminals: Set<SpawnedProcess.Stream> = []) async throws -> ProgramResult {
        try await start(arguments, terminals: terminals).result()
    }

    /// Starts the program.
    func start(_ arguments: [String], terminals: Set<SpawnedProcess.Stream> = []) throws -> SpawnedProcess {
        try Program.start(
            program, arguments,
            environment: [
                "HOME": home.path, "XDG_STATE_HOME": home.path + "/state",
                "\(program.uppercased())_CATALOGUE": server.url,
            ], directory: home.path, terminals: terminals)
    }

    /// Ends the daemon, if one runs, and the server.
    func close() {
        if let daemon { kill(daemon, SIGKILL) }
        server.stop()
    }
}

/// Runs a test with a machine, and ends what it started.
func withListener(_ program: String, _ body: (ListenerMachine) async throws -> Void) async throws {
    let machine = try ListenerMachine(program)
    defer { machine.close() }
    try await body(machine)
}

/// Expects a command to end with one line of the program's own on standard error, nothing on standard output, and a code.
func expectRefusal(
    by program: String, _ result: ProgramResult, _ status: Int32, mentioning words: String,
    location: SourceLocation = #_sourceLocation
) {
    expectRefusal(result, [status], mentioning: words, location: location)
    #expect(result.errorText.hasPrefix("\(program): "), "\(result)", sourceLocation: location)
}
