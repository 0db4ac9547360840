import ByteClubCore
import Glibc

/// The systemd user service that keeps a mirror in sync while its member is logged in.
struct MirrorService: Sendable {
    /// What has become of the service.
    struct Answer: CommandResult {
        var directory: String
        /// The unit's name.
        var unit: String
        /// The unit's file.
        var file: String
        var isInstalled: Bool
        /// Whether anything was changed.
        var isChanged: Bool

        func text(_ style: TextStyle) -> String {
            let mirror = Failure.line(directory)
            if !isInstalled {
                return isChanged ? "no service syncs \(mirror) any more" : "no service syncs \(mirror)"
            }
            return """
                \(mirror) is synced by \(unit) while you are logged in\(isChanged ? "" : ", as before")
                its output:          journalctl --user -u '\(unit)'
                also without login:  loginctl enable-linger
                """
        }
    }

    /// What may be set for a service by variables; a token is never among them.
    static let variables = [
        "XDG_CONFIG_HOME", "XDG_STATE_HOME", "BYTECLUB_SERVER", "BYTECLUB_FOLDER", "BYTECLUB_CA_FILE",
        "BYTECLUB_PIN",
        "BYTECLUB_INSECURE_HTTP", "BYTECLUB_LIMIT_UP", "BYTECLUB_LIMIT_DOWN", "BYTECLUB_SCHEDULE", "BYTECLUB_PLAIN",
    ]

    private let context: Context
    private let place: MirrorPlace
    private let name: String
    private let path: String

    /// Names the service of a mirror.
    init(of place: MirrorPlace, _ context: Context) {
        self.context = context
        self.place = place
        name = ServiceName.unit(for: place.directory)
        path = context.directories.userUnits + "/" + name
    }

    private var advice: String {
        "run 'byteclub sync \(ShellWord.quoted(place.directory))' in a session of yours, or from cron at @reboot"
    }

    /// Writes the unit and starts it; what is there as it should be is left alone.
    ///
    /// - Throws: ``Failure``; then everything is as before.
    func install<Engine: MirrorEngine>(_ engine: Engine.Type, options: [String]) throws -> Answer {
        let systemctl = try Systemctl(context, instead: advice)
        let before = try? LocalFile.read(path, limit: 1 << 20)
        if before == nil, try Engine.status(of: place.configuration).isRunning {
            throw Failure(
                .tryAgain, "a sync of '\(place.directory)' runs already; end it first, then install the service")
        }
        guard let program = context.executable else {
            throw Failure(.configuration, "this program's own file cannot be found; \(advice)")
        }
        let variables = Self.variables.compactMap { name in
            context.environment[name].flatMap { $0.isEmpty ? nil : (name: name, value: $0) }
        }
        let unit = ServiceUnit(directory: place.directory, program: program, options: options, variables: variables)
        let isChanged = before != Array(unit.text.utf8)
        try place.prepare(engine, isDryRun: false)
        try place.remember(engine)
        do {
            if isChanged {
                try LocalFile.makeDirectories(context.directories.userUnits)
                try LocalFile.replace(path, with: Array(unit.text.utf8), mode: 0o644)
                try systemctl("daemon-reload")
            }
            try systemctl("enable", "--now", name)
            if isChanged, before != nil { try systemctl("restart", name) }
        } catch {
            if isChanged { undo(systemctl, to: before) }
            throw error
        }
        return answer(isInstalled: true, isChanged: isChanged)
    }

    /// Stops the service and removes its unit; that there is none is no failure.
    func uninstall() throws -> Answer {
        guard LocalFile.exists(path) else { return answer(isInstalled: false, isChanged: false) }
        let systemctl = try Systemctl(context, instead: "remove '\(path)' by hand")
        try systemctl("disable", "--now", name)
        try LocalFile.remove(path)
        try systemctl("daemon-reload")
        return answer(isInstalled: false, isChanged: true)
    }

    private func answer(isInstalled: Bool, isChanged: Bool) -> Answer {
        Answer(directory: place.directory, unit: name, file: path, isInstalled: isInstalled, isChanged: isChanged)
    }

    private func undo(_ systemctl: Systemctl, to before: [UInt8]?) {
        if let before {
            try? LocalFile.replace(path, with: before, mode: 0o644)
        } else {
            try? systemctl("disable", "--now", name)
            try? LocalFile.remove(path)
        }
        try? systemctl("daemon-reload")
    }
}
