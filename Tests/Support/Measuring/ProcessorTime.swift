public import Glibc

/// Processor time and memory of running processes, from proc(5).
public enum ProcessorTime {
    /// Processor seconds of a process and its direct children.
    public static func seconds(of pid: pid_t) -> Double {
        children(of: pid).reduce(own(pid)) { $0 + own($1) }
    }

    /// Peak memory of a process and its direct children, added up, in MiB.
    public static func peakMemory(of pid: pid_t) -> Double {
        ([pid] + children(of: pid)).reduce(0) { $0 + status("VmHWM:", of: $1) }
    }

    /// Memory of a process and its direct children now, added up, in MiB.
    public static func memory(of pid: pid_t) -> Double {
        ([pid] + children(of: pid)).reduce(0) { $0 + status("VmRSS:", of: $1) }
    }

    /// Processor seconds of the calling thread.
    public static var ofThisThread: Double { read(CLOCK_THREAD_CPUTIME_ID) }

    /// Processor seconds of this process.
    public static var ofThisProcess: Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func children(of pid: pid_t) -> [pid_t] {
        let tasks = FileTree.names(in: "/proc/\(pid)/task") ?? []
        return tasks.flatMap { text("/proc/\(pid)/task/\($0)/children").split(separator: " ").compactMap { pid_t($0) } }
    }

    private static func own(_ pid: pid_t) -> Double {
        // The name may hold blanks, so the fields are counted from its closing bracket.
        let fields = text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// A line of a process's status that counts KiB, in MiB.
    private static func status(_ name: String, of pid: pid_t) -> Double {
        for line in text("/proc/\(pid)/status").split(separator: "\n") where line.hasPrefix(name) {
            return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Double($0) } ?? 0) / 1024
        }
        return 0
    }

    private static func text(_ path: String) -> String { String(decoding: Fixture.bytes(at: path), as: UTF8.self) }
}
