/// How a service's daemon is reached, and how time passes meanwhile.
struct DaemonConnector: Sendable {
    let service: BackgroundService
    /// Whether a daemon is started where none runs.
    let isStarting: Bool
    /// How long it may take to greet, in seconds.
    var patience = Self.patience
    /// Starts the daemon where none runs and that is allowed, and connects.
    var launch: @Sendable (BackgroundService, _ isStarting: Bool) async throws(TransferError) -> FrameConnection
    var pause: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    /// Lets the time of a tick pass: see ``SilenceMeter``.
    var tick: @Sendable () async -> Void = { try? await Task.sleep(for: SilenceMeter.tickTime) }

    /// A daemon takes some seconds to end, greets nobody meanwhile, and is no stuck one for that.
    static let patience = 15

    init(
        _ service: BackgroundService, isStarting: Bool = true,
        launch: @escaping @Sendable (BackgroundService, Bool) async throws(TransferError) -> FrameConnection =
            DaemonLauncher.connect
    ) {
        self.service = service
        self.isStarting = isStarting
        self.launch = launch
    }

    func connect() async throws(TransferError) -> FrameConnection { try await launch(service, isStarting) }

    /// The same for a daemon that runs already.
    var withoutStarting: DaemonConnector {
        var other = DaemonConnector(service, isStarting: false, launch: launch)
        (other.pause, other.tick, other.patience) = (pause, tick, patience)
        return other
    }

    /// Whether a daemon runs: found out without connecting, which would have systemd start one.
    var isRunning: Bool { DaemonLock.isHeld(service.lockPath) }
}
