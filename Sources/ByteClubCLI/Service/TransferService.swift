import ByteClubCore
import ByteClubHTTP
import Glibc

/// The systemd user units for background transfers: a service that starts at login, and a socket that starts it on
/// demand.
struct TransferService: Sendable {
    /// The state of the units after a change.
    struct Answer: CommandResult {
        var units = [TransferService.socket, TransferService.service]
        var isInstalled: Bool
        /// Whether anything was changed.
        var isChanged: Bool

        func text(_ style: TextStyle) -> String {
            if !isInstalled {
                return isChanged
                    ? "removed the service; transfers no longer resume after a reboot" : "no service is installed"
            }
            return """
                transfers resume after a reboot, from your login on\(isChanged ? "" : ", as before")
                their log:           journalctl --user -u \(TransferService.service)
                without login:       loginctl enable-linger
                """
        }
    }

    static let service = "byteclub-transfers.service"
    static let socket = "byteclub-transfers.socket"
    private static let proxies = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]

    private let context: Context
    private let units: UserUnits

    init(_ context: Context) {
        self.context = context
        units = UserUnits([Self.socket, Self.service], context)
    }

    /// Writes and starts the units; no other daemon may be running.
    ///
    /// - Throws: ``Failure``; then nothing was changed.
    func install(_ transfers: BackgroundService) throws -> Answer {
        let systemctl = try Systemctl(context, instead: "run 'byteclub daemon' from cron at @reboot instead")
        let path = transfers.socketPath
        guard path.utf8.count < 108, path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Failure(
                .configuration,
                "'\(Failure.line(path))' cannot be a socket's path; set XDG_STATE_HOME to a shorter one, "
                    + "without control characters")
        }
        try LocalFile.makePrivateDirectory(transfers.folder)
        if let name = proxies(secret: true).first {
            context.note(
                "\(name) is not written to the service, as it may hold a password and others can read the unit; put it "
                    + "in a file with mode 0600 and set that as EnvironmentFile= with 'systemctl --user edit "
                    + "\(Self.service)'")
        }
        let isChanged = try units.install(
            [(Self.socket, socketText(path)), (Self.service, serviceText(transfers))], systemctl)
        return Answer(isInstalled: true, isChanged: isChanged)
    }

    /// Stops and removes the units, if there are any.
    func uninstall() throws -> Answer {
        guard units.areThere else { return Answer(isInstalled: false, isChanged: false) }
        try units.remove(Systemctl(context, instead: "remove '\(units.path(Self.service))' and its socket by hand"))
        return Answer(isInstalled: false, isChanged: true)
    }

    /// Whether the units are installed.
    var isInstalled: Bool { units.areThere }

    /// The proxy variables, either with a password, which must not be in a readable file, or without.
    private func proxies(secret: Bool) -> [String] {
        Self.proxies.flatMap { [$0, $0.uppercased()] }.filter {
            (context.environment[$0] ?? "").contains("@") == secret
        }
    }

    private func serviceText(_ transfers: BackgroundService) -> String {
        let names = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] + proxies(secret: false)
        return ServiceUnit(
            install: "byteclub daemon --install", uninstall: "byteclub daemon --uninstall",
            description: "ByteClub background transfers",
            dependencies: ["Requires=\(Self.socket)", "After=\(Self.socket)"], type: "exec",
            command: transfers.command, variables: ServiceUnit.assignments(names, in: context.environment),
            // It notices a new network by that.
            addressFamilies: ["AF_NETLINK"]
        ).text
    }

    private func socketText(_ path: String) -> String {
        """
        # Made by 'byteclub daemon --install'; 'byteclub daemon --uninstall' removes it.
        [Unit]
        Description=Socket of ByteClub background transfers

        [Socket]
        ListenStream=\(path.replacing("%", with: "%%"))
        SocketMode=0600
        DirectoryMode=0700

        [Install]
        WantedBy=sockets.target

        """
    }
}
