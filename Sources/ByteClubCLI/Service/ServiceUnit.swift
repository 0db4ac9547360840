/// The text of a systemd user service that runs one of our programs; it holds no secret.
struct ServiceUnit: Sendable {
    /// The commands that make and remove it, as in `byteclub sync --install`.
    var install: String
    var uninstall: String
    /// What it is, on one line.
    var description: String
    /// Further lines of its first section.
    var dependencies: [String] = []
    /// How systemd knows that it has begun: `notify` or `exec`.
    var type: String
    /// The program's absolute path, and its arguments.
    var command: [String]
    /// Variables that the service gets, in the order in which they are written.
    var variables: [(name: String, value: String)]
    /// The address families that it uses beside those of the Internet and of this machine.
    var addressFamilies: [String] = []

    /// What may be set for every service by variables; a token is never among them.
    static let variables = [
        "XDG_CONFIG_HOME", "XDG_STATE_HOME", "BYTECLUB_SERVER", "BYTECLUB_FOLDER", "BYTECLUB_CA_FILE", "BYTECLUB_PIN",
        "BYTECLUB_INSECURE_HTTP",
    ]

    /// Those of some variables that are set.
    static func assignments(_ names: [String], in environment: [String: String]) -> [(name: String, value: String)] {
        names.compactMap { name in environment[name].flatMap { $0.isEmpty ? nil : (name: name, value: $0) } }
    }

    /// The description as a line of a unit: a backslash at its end would join the next line to it, so those there are
    /// doubled.
    private var described: String {
        let line = Failure.line(description).replacing("%", with: "%%")
        return line + String(repeating: "\\", count: line.utf8.reversed().prefix { $0 == UInt8(ascii: "\\") }.count)
    }

    /// The file's text.
    var text: String {
        // Assignments know no variables, so a dollar sign is itself there.
        let environment = variables.map {
            "Environment=" + ServiceName.word("\($0.name)=\($0.value)").replacing("$$", with: "$") + "\n"
        }.joined()
        let families = (["AF_INET", "AF_INET6", "AF_UNIX"] + addressFamilies).joined(separator: " ")
        return """
            # Made by '\(install)'; '\(uninstall)' removes it.
            [Unit]
            Description=\(described)
            \(dependencies.map { $0 + "\n" }.joined())# It is tried again for as long as it takes.
            StartLimitIntervalSec=0

            [Service]
            Type=\(type)
            ExecStart=\(command.map(ServiceName.word).joined(separator: " "))
            \(environment)Restart=on-failure
            RestartSec=10
            # Ctrl-C and SIGTERM end it in order; what only a person can mend is not tried again.
            SuccessExitStatus=130 143
            RestartPreventExitStatus=64 65 66 77 78
            TimeoutStopSec=40
            Nice=5

            # It needs no privilege, and speaks over the Internet and with systemd only.
            NoNewPrivileges=yes
            RestrictSUIDSGID=yes
            RestrictRealtime=yes
            RestrictAddressFamilies=\(families)
            LockPersonality=yes
            MemoryDenyWriteExecute=yes
            SystemCallArchitectures=native
            SystemCallFilter=@system-service
            SystemCallErrorNumber=EPERM

            [Install]
            WantedBy=default.target

            """
    }
}

extension ServiceUnit {
    /// The service that syncs the mirror at an absolute path.
    init(directory: String, program: String, options: [String], variables: [(name: String, value: String)]) {
        self.init(
            install: "byteclub sync --install", uninstall: "byteclub sync --uninstall",
            description: "ByteClub sync of \(Failure.line(directory))", type: "notify",
            command: [program, "sync", directory] + options, variables: variables)
    }
}
