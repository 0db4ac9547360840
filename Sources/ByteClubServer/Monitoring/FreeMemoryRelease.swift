import CLinux
import Glibc
import ServiceLifecycle

/// Gives memory back to the system that malloc keeps between what is in use, as after a burst of requests.
struct FreeMemoryRelease: Service {
    /// How often malloc is asked what it keeps.
    private static let interval = Duration.seconds(5)
    /// The bytes from which on it is worth giving them back; what was given back still counts as free.
    private static let least = 8 << 20

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var known = 0
            while true {
                try await Task.sleep(for: Self.interval)
                let free = mallinfo2().fordblks
                if free > known + Self.least { malloc_trim(0) }
                known = free > known + Self.least ? mallinfo2().fordblks : min(known, free)
            }
        }
    }
}
