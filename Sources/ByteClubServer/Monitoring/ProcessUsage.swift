import ByteClubFiles
import CLinux
import Glibc
import ServiceLifecycle

/// The resources that this process uses.
enum ProcessUsage {
    /// The bytes in memory; 0 when the system does not tell.
    static func residentBytes() -> Int64 {
        let text = fileText("/proc/self/statm", upTo: 128) ?? ""
        let fields = text.split(separator: " ")
        return (fields.count > 1 ? Int64(fields[1]) ?? 0 : 0) * Int64(getpagesize())
    }

    /// The seconds of processor time so far.
    static func processorSeconds() -> Double {
        var usage = rusage()
        guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
        let (user, system) = (usage.ru_utime, usage.ru_stime)
        return Double(user.tv_sec + system.tv_sec) + Double(user.tv_usec + system.tv_usec) / 1e6
    }

    /// How many files and connections are open; 0 when the system does not tell.
    static func openDescriptors() -> Int {
        guard let names = try? FolderNames("/proc/self/fd") else { return 0 }
        return max(0, names.reduce(0) { count, _ in count + 1 } - 1)
    }
}

/// Returns free memory of malloc to the system, as after a burst of requests.
struct FreeMemoryRelease: Service {
    /// The interval of the checks.
    private static let interval = Duration.seconds(5)
    /// The least free bytes that are worth returning; malloc still counts returned bytes as free.
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
