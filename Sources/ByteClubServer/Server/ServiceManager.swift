import Glibc
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// Reports the server's state to systemd, over the datagram socket that `NOTIFY_SOCKET` names (sd_notify(3)).
struct ServiceNotifier: Sendable {
    /// How often systemd wants to hear that the server lives; nil when it does not.
    let watchdogInterval: Duration?
    private let path: [UInt8]

    /// Finds the socket; nil when the server was not started by systemd, or it asks for nothing.
    init?(environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        // A leading @ denotes a NUL: a name that is in no directory.
        self.path = path.hasPrefix("@") ? [0] + path.utf8.dropFirst() : Array(path.utf8)
        let isForThis = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        watchdogInterval = environment["WATCHDOG_USEC"].flatMap { Int64($0) }
            .flatMap { $0 > 0 && isForThis ? .microseconds($0) : nil }
    }

    /// Sends assignments, one a line, as in `READY=1`; failures are ignored.
    func send(_ state: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array(state.utf8)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}

/// Sends systemd a sign of life as often as it wants one.
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

/// The meaning of SIGHUP for a server.
enum Hangup: Hashable, Sendable {
    /// Read the certificate again, as services do.
    case reload
    /// End, as programs in a closed terminal do.
    case end

    /// Decides by how a server was started.
    ///
    /// - Parameters:
    ///   - isAtTerminal: Whether standard input or standard error is a terminal.
    ///   - isIgnored: Whether the signal is ignored, as nohup(1) has it.
    ///   - stays: Whether the server is to outlive its terminal.
    init(isAtTerminal: Bool, isIgnored: Bool, stays: Bool) {
        self = isAtTerminal && !isIgnored && !stays ? .end : .reload
    }

    /// Decides by how this process was started; call it before anything else handles the signal.
    static func current(stays: Bool) -> Hangup {
        // Setting a handler returns the one before, also the constant for ignoring, which is 1.
        let before = unsafe unsafeBitCast(signal(SIGHUP, SIG_IGN), to: Int.self)
        let isIgnored = unsafe before == unsafeBitCast(SIG_IGN, to: Int.self)
        if !isIgnored { signal(SIGHUP, SIG_DFL) }
        let isAtTerminal = isatty(STDIN_FILENO) == 1 || isatty(STDERR_FILENO) == 1
        return Hangup(isAtTerminal: isAtTerminal, isIgnored: isIgnored, stays: stays)
    }
}

/// Reads the certificate again on SIGHUP; connections and requests go on undisturbed.
struct CertificateReload: Service {
    let server: ClubServer
    let notifier: ServiceNotifier?
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            notifier?.send("RELOADING=1\nMONOTONIC_USEC=\(NIODeadline.now().uptimeNanoseconds / 1000)")
            do {
                let isRead = try server.reloadCertificate()
                logger.notice(isRead ? "reloaded the certificate" : "no certificate to reload")
            } catch {
                logger.error("the new certificate cannot be used, keeping the old one: \(ServerFault.line(for: error))")
            }
            notifier?.send("READY=1")
        }
    }
}
