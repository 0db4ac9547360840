import ServiceLifecycle

/// Tells systemd that the server still lives, as often as it asks for.
struct WatchdogService: Service {
    let notifier: ServiceNotifier
    let health: HealthCheck

    func run() async throws {
        guard let interval = notifier.watchdogInterval else { return try await gracefulShutdown() }
        try? await cancelWhenGracefulShutdown {
            while true {
                // Whatever it finds: only a check that hangs could be helped by a new start.
                _ = await health.problem()
                notifier.send("WATCHDOG=1")
                try await Task.sleep(for: interval / 3)
            }
        }
    }
}
