import ByteClubCore
import Synchronization

/// The running uploads of a daemon, and the known contents of the server's folders.
///
/// Photos of one length may be identical, so they wait for each other. A folder is listed once while uploads run, and
/// again after a failed one, whose response may have been lost.
final class UploadsUnderWay: Sendable {
    /// A folder of a server.
    struct Folder: Hashable, Sendable {
        var server: String
        var path: PathKey
    }

    private struct State {
        var lengths: Set<Int64> = []
        var known: [Folder: KnownPhotos] = [:]
        /// The number of failures, each of which invalidates earlier listings.
        var failures = 0

        mutating func end(_ length: Int64) {
            lengths.remove(length)
            if lengths.isEmpty { known = [:] }
        }
    }

    private static let moment = Duration.milliseconds(100)

    private let state = Mutex(State())

    /// Performs an upload of so many bytes when no other one of that length runs.
    ///
    /// - Throws: Errors of `work`, and `CancellationError` during the wait.
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
