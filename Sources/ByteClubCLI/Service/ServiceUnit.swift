/// The unit file of a systemd user service; it contains no secret.
struct ServiceUnit: Sendable {
    /// The command that installs it, as in `byteclub sync --install`.
    var install: String
    var uninstall: String
    /// Its description, on one line.
    var description: String
    /// Further lines of its first section.
    var dependencies: [String] = []
    /// How systemd detects that it is ready: `notify` or `exec`.
    var type: String
    /// The program's absolute path and arguments.
    var command: [String]
    /// The service's environment variables, in order.
    var variables: [(name: String, value: String)]
    /// Address families in addition to those of the Internet and Unix sockets.
    var addressFamilies: [String] = []

    /// Environment variables that configure every service; none of them is a token.
    static let variables = [
        "XDG_CONFIG_HOME", "XDG_STATE_HOME", "BYTECLUB_SERVER", "BYTECLUB_FOLDER", "BYTECLUB_CA_FILE", "BYTECLUB_PIN",
        "BYTECLUB_INSECURE_HTTP",
    ]

    /// The variables that are set, as assignments.
    static func assignments(_ names: [String], in environment: [String: String]) -> [(name: String, value: String)] {
        names.compactMap { name in environment[name].flatMap { $0.isEmpty ? nil : (name: name, value: $0) } }
    }

    /// The description as a line of a unit; backslashes are doubled, since one at the end would continue the line.
    private var described: String {
        let line = Failure.line(description).replacing("%", with: "%%")
        return line + String(repeating: "\\", count: line.utf8.reversed().prefix { $0 == UInt8(ascii: "\\") }.count)
    }

    /// The file's text.
    var text: String {
        // Assignments do not expand variables, so a dollar sign needs no escape.
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

            # It needs no privilege, and speaks over the Internet, with systemd and NetworkManager only.
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
            command: [program, "sync", directory] + options, variables: variables,
            // It notices a metered network by that.
            addressFamilies: ["AF_NETLINK"])
    }
}
