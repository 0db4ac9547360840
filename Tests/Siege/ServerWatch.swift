import CLinux
import Glibc
import Synchronization
import TestSupport

/// A server's resources at one moment.
struct ServerSample: Sendable {
    /// Seconds since the start of the run.
    let time: Double
    /// Memory in RAM, in MiB.
    let memory: Double
    /// Open files and connections.
    let descriptors: Int
    /// Processor seconds since the server's start.
    let processor: Double
    /// The disk use of its data folder, in MiB.
    let disk: Double
}

/// Samples a server's resources once a second.
final class ServerWatch: Sendable {
    private let samples = Mutex<[ServerSample]>([])

    /// The samples so far.
    var seen: [ServerSample] { samples.withLock { $0 } }

    /// Looks until the day is over, on a thread of its own.
    init(_ club: SiegeClub, day: ClubDay) {
        let (pid, data) = (club.pid, club.server.data)
        BackgroundThread.start { [self] in
            while !day.isOver {
                let sample = ServerSample(
                    time: day.now, memory: ProcessorTime.memory(of: pid),
                    descriptors: FileTree.names(in: "/proc/\(pid)/fd")?.count ?? 0,
                    processor: ProcessorTime.seconds(of: pid), disk: Double(Self.diskUse(data)) / 1_048_576)
                samples.withLock { $0.append(sample) }
                usleep(1_000_000)
            }
        }
    }

    /// The disk use of a folder in bytes, recursively.
    private static func diskUse(_ path: String) -> Int {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return 0 }
        let own = Int(status.st_blocks) * 512
        guard status.st_mode & S_IFMT == S_IFDIR else { return own }
        return (FileTree.names(in: path) ?? []).reduce(own) { $0 + diskUse(path + "/" + $1) }
    }
}

extension [ServerSample] {
    /// The samples of a part of the run.
    func during(_ span: Range<Double>) -> [ServerSample] { filter { span.contains($0.time) } }

    /// Processor use from the first to the last, as a share of one core.
    var load: Double {
        guard let first, let last, last.time > first.time else { return 0 }
        return (last.processor - first.processor) / (last.time - first.time)
    }

    /// Seconds from a moment on until which something holds to the end; nil when it does not hold in the end.
    func settled(since start: Double, _ holds: (ServerSample) -> Bool) -> Double? {
        guard let last else { return nil }
        guard let failing = self.last(where: { !holds($0) }) else { return 0 }
        return failing.time < last.time ? Swift.max(0, failing.time - start) : nil
    }
}
