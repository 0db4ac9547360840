import ByteClubCore
import Synchronization

/// Bounds the memory for large bodies that are held whole, in requests and in answers.
///
/// Who finds it used up is asked to come back, so that slow clients cannot fill the memory together.
final class BodyBudget: Sendable {
    /// The bytes that all bodies may have together.
    static let total = 256 << 20

    /// A part of the budget, given back with its last reference.
    final class Lease: Sendable {
        private let budget: BodyBudget
        private let bytes: Int

        fileprivate init(_ budget: BodyBudget, _ bytes: Int) {
            self.budget = budget
            self.bytes = bytes
        }

        deinit { budget.used.withLock { $0 -= bytes } }
    }

    private let used = Mutex(0)

    /// The bytes that are in use.
    var usedBytes: Int { used.withLock { $0 } }

    /// Takes a part.
    ///
    /// - Throws: ``APIError`` 503 when not so much is left.
    func lease(_ bytes: Int) throws(APIError) -> Lease {
        let bytes = max(0, bytes)
        let isThere = used.withLock { used in
            if bytes > Self.total - used { return false }
            used += bytes
            return true
        }
        guard isThere else { throw APIError(503, "the server is busy with large bodies", retryAfter: 1) }
        return Lease(self, bytes)
    }
}
