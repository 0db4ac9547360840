import Glibc
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the certificate again on SIGHUP; connections and requests go on undisturbed.
struct CertificateReload: Service {
    let server: ClubServer
    let notifier: ServiceNotifier?
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            notifier?.send("RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds())")
            do {
                let isRead = try server.reloadCertificate()
                logger.notice(isRead ? "reloaded the certificate" : "no certificate to reload")
            } catch {
                logger.error("the new certificate cannot be used, keeping the old one: \(ServerFault.line(for: error))")
            }
            notifier?.send("READY=1")
        }
    }

    private static func monotonicMicroseconds() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
