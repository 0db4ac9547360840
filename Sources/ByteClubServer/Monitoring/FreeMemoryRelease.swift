import CLinux
import Glibc
import ServiceLifecycle

/// Gives memory back to the system that malloc keeps between what is in use, as after a burst of requests.
struct FreeMemoryRelease: Service {
    /// How often malloc is asked what it keeps.
    private static let interval = Duration.seconds(5)
    /// The bytes from which on it is worth giving them back.
    private static let least = 8 << 20

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: Self.interval)
                if mallinfo2().fordblks > Self.least { malloc_trim(0) }
            }
        }
    }
}
