import ByteClubCore
import Glibc

/// The systemd user service that syncs a mirror while its user is logged in.
struct MirrorService: Sendable {
    /// The state of the service after a change.
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
                return isChanged ? "removed the service for \(mirror)" : "no service for \(mirror)"
            }
            return """
                \(mirror) is synced by \(unit) while you are logged in\(isChanged ? "" : ", as before")
                its output:          journalctl --user -u '\(unit)'
                without login:       loginctl enable-linger
                """
        }
    }

    /// Environment variables that configure the service.
    static let variables =
        ServiceUnit.variables + [
            "BYTECLUB_LIMIT_UP", "BYTECLUB_LIMIT_DOWN", "BYTECLUB_SCHEDULE", "BYTECLUB_NOTIFY", "BYTECLUB_METERED",
            "BYTECLUB_PLAIN",
        ]

    private let context: Context
    private let place: MirrorPlace
    private let name: String
    private let units: UserUnits

    /// Names the service of a mirror.
    init(of place: MirrorPlace, _ context: Context) {
        self.context = context
        self.place = place
        name = ServiceName.unit(for: place.directory)
        units = UserUnits([name], context)
    }

    private var advice: String {
        "run \(ShellWord.command("byteclub sync", place.directory)) in your own session, or from cron at @reboot"
    }

    /// Writes the unit and starts it, unless it is up to date.
    ///
    /// - Throws: ``Failure``; then nothing was changed.
    func install(_ engine: any MirrorEngine.Type, options: [String]) throws -> Answer {
        let systemctl = try Systemctl(context, instead: advice)
        if !units.areThere, try engine.status(of: place.configuration).isRunning {
            throw Failure(
                .tryAgain, "a sync of '\(place.directory)' is already running; stop it first, then install the service")
        }
        guard let program = context.executable else {
            throw Failure(.configuration, "this program's executable cannot be found; \(advice)")
        }
        let unit = ServiceUnit(
            directory: place.directory, program: program, options: options,
            variables: ServiceUnit.assignments(Self.variables, in: context.environment))
        try place.prepare(engine, isDryRun: false)
        try place.remember(engine)
        let isChanged = try units.install([(name, unit.text)], systemctl)
        return answer(isInstalled: true, isChanged: isChanged)
    }

    /// Stops the service and removes its unit, if there is one.
    func uninstall() throws -> Answer {
        guard units.areThere else { return answer(isInstalled: false, isChanged: false) }
        try units.remove(Systemctl(context, instead: "remove '\(units.path(name))' by hand"))
        return answer(isInstalled: false, isChanged: true)
    }

    private func answer(isInstalled: Bool, isChanged: Bool) -> Answer {
        Answer(
            directory: place.directory, unit: name, file: units.path(name), isInstalled: isInstalled,
            isChanged: isChanged)
    }
}
