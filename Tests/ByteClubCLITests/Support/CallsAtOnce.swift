import ByteClubCore
import MemoryRemote
import Synchronization

/// Counts how many calls of a kind a server has under way at once.
final class CallsAtOnce: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    /// The most so far.
    var most: Int { counts.withLock { $0.most } }

    /// Counts a server's calls from now on; each waits for company, at most ten seconds, until so many were there at
    /// once, but those for a file of a name, which come alone.
    init(of kind: MemoryOperation.Kind, on server: MemoryRemote, wanted: Int, exceptFor alone: String? = nil) {
        server.fault = { [self] operation throws(RemoteError) in
            guard operation.kind == kind else { return }
            let isBefore = operation.moment == .before
            counts.withLock { counts in
                counts.now += isBefore ? 1 : -1
                counts.most = max(counts.most, counts.now)
            }
            for _ in 0..<1000 where isBefore && most < wanted && (alone == nil || operation.path?.name != alone) {
                try? await Task.sleep(for: .milliseconds(10))
            }
            await Task.yield()
        }
    }
}
