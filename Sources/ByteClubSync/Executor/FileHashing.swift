import ByteClubCore
import Synchronization

/// Hashes large files on a thread of its own, beside the transfer that reads them too.
actor FileHashing {
    private static let shared = try? FileHashing()
    nonisolated let thread: ThreadExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    private init() throws { thread = try ThreadExecutor() }

    /// The hash of a whole open file; ends soon when the task is cancelled.
    static func hash(of file: FileDescriptor) async throws -> ContentHash {
        guard let shared else { return try ContentReader.hash(of: file) }
        return try await shared.hash(file)
    }

    private func hash(_ file: FileDescriptor) throws -> ContentHash { try ContentReader.hash(of: file) }
}

/// Collects what parallel tasks received.
final class Arrivals: Sendable {
    private let items = Mutex<[Incoming]>([])

    var all: [Incoming] { items.withLock { $0 } }

    func add(_ item: Incoming) { items.withLock { $0.append(item) } }
}
