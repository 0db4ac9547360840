/// The text of a systemd user unit that syncs one mirror; it holds no secret.
struct ServiceUnit: Sendable {
    /// The mirror's absolute path.
    var directory: String
    /// The program's absolute path.
    var program: String
    /// What follows the mirror on the command line.
    var options: [String]
    /// Variables that the service gets, in the order in which they are written.
    var variables: [(name: String, value: String)]

    /// The directory as a description has it: a backslash at the line's end would join the next line to it, so those
    /// there are doubled.
    private var described: String {
        let line = Failure.line(directory).replacing("%", with: "%%")
        return line + String(repeating: "\\", count: line.utf8.reversed().prefix { $0 == UInt8(ascii: "\\") }.count)
    }

    /// The file's text.
    var text: String {
        let command = ([program, "sync", directory] + options).map(ServiceName.word).joined(separator: " ")
        // Assignments know no variables, so a dollar sign is itself there.
        let environment = variables.map {
            "Environment=" + ServiceName.word("\($0.name)=\($0.value)").replacing("$$", with: "$") + "\n"
        }.joined()
        return """
            # Made by 'byteclub sync --install'; 'byteclub sync --uninstall' removes it.
            [Unit]
            Description=ByteClub sync of \(described)
            # It is tried again for as long as it takes.
            StartLimitIntervalSec=0

            [Service]
            Type=notify
            ExecStart=\(command)
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
            RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
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
