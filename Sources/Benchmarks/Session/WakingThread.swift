import Glibc
import Synchronization
import TestSupport

/// A thread that only wakes its callers, for the life of the process.
final class WakingThread: Sendable {
    private let reader: Int32
    private let writer: Int32
    private let caller = Mutex<CheckedContinuation<Void, Never>?>(nil)

    /// Starts the thread; nil when the system has no pipe left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
        BackgroundThread.start { [self] in
            var byte: UInt8 = 0
            while unsafe read(reader, &byte, 1) == 1 {
                caller.withLock { caller in
                    defer { caller = nil }
                    return caller
                }?.resume()
            }
        }
    }

    /// Wakes the thread and waits to be woken by it.
    func call() async {
        await withCheckedContinuation { continuation in
            caller.withLock { $0 = continuation }
            var byte: UInt8 = 1
            _ = unsafe write(writer, &byte, 1)
        }
    }
}
