import ByteClubCore
import MemoryRemote
import Synchronization

/// Counts the calls of a member.
final class Calls: Sendable {
    private let counts = Mutex<[MemoryOperation.Kind: Int]>([:])

    init(of remote: MemoryRemote) {
        remote.fault = { [self] operation throws(RemoteError) in
            if operation.moment == .before { counts.withLock { $0[operation.kind, default: 0] += 1 } }
        }
    }

    subscript(_ kind: MemoryOperation.Kind) -> Int { counts.withLock { $0[kind] ?? 0 } }
}
