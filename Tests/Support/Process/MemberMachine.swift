import Glibc

/// A member with a machine of their own, as far as `byteclub` can tell: home, settings, state and a mirror.
public struct MemberMachine: Sendable {
    /// The member's name.
    public let name: String
    /// Everything of the member's is below it.
    public let home: String
    /// Where the member's mirror goes; it exists.
    public let mirror: String
    /// What the member's programs get beside ``Program/environment``.
    public var environment: [String: String]

    /// Makes a machine's folders below another.
    public init(_ name: String, in parent: String) {
        self.name = name
        home = parent + "/" + name
        mirror = home + "/mirror"
        environment = [
            "HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home + "/state", "TMPDIR": home,
        ]
        unsafe mkdir(home, 0o755)
        unsafe mkdir(mirror, 0o755)
    }

    /// Runs `byteclub` as the member.
    public func byteclub(
        _ arguments: String..., input: [UInt8] = [], environment: [String: String] = [:],
        timeout: Duration = .seconds(60)
    ) async throws -> ProgramResult {
        try await start(arguments, input: input, environment: environment, timeout: timeout).result()
    }

    /// Starts `byteclub` as the member.
    public func start(
        _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:],
        timeout: Duration = .seconds(60), terminals: Set<SpawnedProcess.Stream> = [],
        columns: UInt16 = 100
    ) throws -> SpawnedProcess {
        try Program.start(
            "byteclub", arguments, environment: self.environment.merging(environment) { _, new in new },
            directory: home, input: input, timeout: timeout, terminals: terminals, columns: columns)
    }

    /// Starts `byteclub` as the member, at a terminal of its own.
    public func startAtTerminal(_ arguments: [String], environment: [String: String] = [:]) throws -> TerminalSession {
        let all = Program.environment.merging(self.environment) { $1 }.merging(["TERM": "xterm"]) { $1 }
        return try TerminalSession(Program.path("byteclub"), arguments, environment: all.merging(environment) { $1 })
    }

    /// Runs `byteclub sync` once on the mirror.
    public func sync(_ arguments: String..., timeout: Duration = .seconds(120)) async throws -> ProgramResult {
        try await start(["sync", mirror, "--once"] + arguments, timeout: timeout).result()
    }
}
