import Glibc

/// Reaches a service's daemon, and starts it where none runs.
enum DaemonLauncher {
    /// How long a daemon has to get ready.
    private static let patience: Duration = .seconds(60)

    /// Connects; the first thing to send is ``DaemonCall/hello(version:)``.
    ///
    /// Several programs may start one at once: one of them is the daemon, the others end, and all get connected to it.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable``, with what the daemon's program wrote to standard error where
    ///   it ended.
    static func connect(_ service: BackgroundService, isStarting: Bool) async throws(TransferError) -> FrameConnection {
        try await OwnThread.run { () -> Result<FrameConnection, TransferError> in
            do throws(TransferError) { return .success(try reach(service, isStarting: isStarting)) } catch {
                return .failure(error)
            }
        }.get()
    }

    private static func reach(_ service: BackgroundService, isStarting: Bool) throws(TransferError) -> FrameConnection {
        let end = Moment.fine.advanced(by: isStarting ? patience : .seconds(DaemonConnector.patience))
        var pause = GrowingPause(from: 2000, to: 100_000, until: end)
        while true {
            // Connecting has systemd start one, where it listens.
            let isRunning = isStarting || DaemonLock.isHeld(service.lockPath)
            if isRunning, let connection = try connect(service) { return connection }
            guard isStarting else {
                guard isRunning else {
                    throw TransferError(
                        .daemonUnavailable, "no daemon of background transfers runs for \(service.folder)")
                }
                // It is about to listen, or to end.
                guard pause.pass() else { throw service.silence }
                continue
            }
            var daemon = try DaemonProcess(service)
            switch try daemon.becomesReady(
                before: end, connecting: { () throws(TransferError) in try connect(service) })
            {
            case .connected(let connection): return connection
            case .notNeeded:
                // Another one has the place: it is about to listen, or to end.
                guard pause.pass() else { throw daemon.late }
            }
        }
    }

    private static func connect(_ service: BackgroundService) throws(TransferError) -> FrameConnection? {
        do throws(TransferError) {
            let connection = try FrameConnection.connect(to: service.socketPath)
            if let connection { try check(connection.peer, service) }
            return connection
        } catch {
            throw error.code == .timedOut ? service.silence : error
        }
    }

    /// Another user's daemon would do with this user's files what it likes.
    static func check(_ peer: uid_t?, _ service: BackgroundService) throws(TransferError) {
        guard peer == geteuid() else {
            let owner = peer.map { "user \($0)" } ?? "an unknown user"
            throw TransferError(
                .daemonUnavailable,
                "'\(service.socketPath)' belongs to \(owner), not to this one; choose a folder of this user")
        }
    }
}
