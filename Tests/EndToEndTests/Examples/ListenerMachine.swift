import ByteClubHTTP
import Glibc
import TestSupport
import Testing

/// Somebody who uses one of the examples, with a home of their own, beside a catalogue's server.
final class ListenerMachine: Sendable {
    let server: CatalogueServer
    let folder: String
    /// The user's home, where the programs start.
    let home: TemporaryDirectory
    private let program: String

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

    /// The length of the longest part of a download in the folder; 0 without one.
    var part: Int {
        (FileTree.names(in: folder) ?? []).filter { $0.hasPrefix(".byteclub-") }.map { name in
            var status = stat()
            return unsafe stat("\(folder)/\(name)", &status) == 0 ? Int(status.st_size) : 0
        }.max() ?? 0
    }

    /// Runs the program to its end.
    func run(_ arguments: String..., terminals: Set<SpawnedProcess.Stream> = []) async throws -> ProgramResult {
        try await start(arguments, terminals: terminals).result()
    }

    /// Starts the program.
    func start(
        _ arguments: [String], environment: [String: String] = [:], terminals: Set<SpawnedProcess.Stream> = []
    ) throws -> SpawnedProcess {
        try Program.start(
            program, arguments, environment: self.environment.merging(environment) { $1 }, directory: home.path,
            terminals: terminals)
    }

    /// Starts a line of a shell in the home.
    func startShell(
        _ line: String, environment: [String: String] = [:], timeout: Duration = .seconds(60)
    ) throws -> SpawnedProcess {
        try Program.start(
            "/bin/sh", ["-c", "exec " + line], environment: self.environment.merging(environment) { $1 },
            directory: home.path, timeout: timeout)
    }

    /// Makes a player that prints its name and arguments, and ends with a status; a folder for `PATH`.
    func makePlayer(_ name: String, status: Int = 3) throws -> String {
        let folder = home.path + "/players"
        try LocalFiles.write(
            "#!/bin/sh\nfor word in \"$0\" \"$@\"; do printf '%s\\n' \"$word\"; done\nexit \(status)\n",
            to: "\(folder)/\(name)")
        unsafe chmod("\(folder)/\(name)", 0o755)
        return folder
    }

    /// Starts the program at a terminal of its own, with `$TERM` as `xterm`.
    func startAtTerminal(_ arguments: [String], environment: [String: String] = [:]) throws -> TerminalSession {
        try TerminalSession(Program.path(program), arguments, environment: terminal(environment))
    }

    /// Starts a line of a shell in the home, at a terminal of its own.
    func startShellAtTerminal(_ line: String, environment: [String: String]) throws -> TerminalSession {
        try TerminalSession("/bin/sh", ["-c", "cd && exec " + line], environment: terminal(environment))
    }

    private func terminal(_ environment: [String: String]) -> [String: String] {
        Program.environment.merging(self.environment) { $1 }.merging(["TERM": "xterm"]) { $1 }
            .merging(environment) { $1 }
    }

    private var environment: [String: String] {
        [
            "HOME": home.path, "XDG_STATE_HOME": home.path + "/state",
            "\(program.uppercased())_CATALOGUE": server.url,
        ]
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
