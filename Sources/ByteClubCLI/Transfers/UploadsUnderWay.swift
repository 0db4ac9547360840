import ByteClubCore
import Synchronization

/// What the uploads of a daemon know of each other: which are under way, and what the server's folders have.
///
/// Photos of one length may be the same one, so such wait for each other. What a folder has is asked for once while
/// uploads are under way, and again after one that failed: its last answer may have been lost.
final class UploadsUnderWay: Sendable {
    /// A folder of a server.
    struct Folder: Hashable, Sendable {
        var server: String
        var path: PathKey
    }

    private struct State {
        var lengths: Set<Int64> = []
        var known: [Folder: KnownPhotos] = [:]
        /// How many have failed: what was known before is not kept after.
        var failures = 0

        mutating func end(_ length: Int64) {
            lengths.remove(length)
            if lengths.isEmpty { known = [:] }
        }
    }

    private static let moment = Duration.milliseconds(100)

    private let state = Mutex(State())

    /// Does an upload of so many bytes when no other one of that length is under way.
    ///
    /// - Throws: What `work` throws, and `CancellationError` while it waits.
    func upload<Value>(
        _ length: Int64, to folder: Folder, _ work: (inout KnownPhotos?) async throws -> Value
    ) async throws -> Value {
        while !state.withLock({ $0.lengths.insert(length).inserted }) { try await Task.sleep(for: Self.moment) }
        var (known, failures) = state.withLock { ($0.known[folder], $0.failures) }
        do {
            let value = try await work(&known)
            state.withLock { [known] state in
                if let known, state.failures == failures {
                    state.known[folder, default: known].take(length, from: known)
                }
                state.end(length)
            }
            return value
        } catch {
            state.withLock { state in
                state.known[folder] = nil
                state.failures += 1
                state.end(length)
            }
            throw error
        }
    }
}
