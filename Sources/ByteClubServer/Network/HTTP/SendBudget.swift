import Synchronization

/// Shares the memory for answers that are read piece by piece among those that are being sent.
final class SendBudget: Sendable {
    /// The bytes that all of them may hold.
    static let total = 32 << 20
    /// The least that one piece is worth reading for.
    static let smallest = 16 << 10
    /// The longest piece in bytes.
    static let largest = 256 << 10

    private let sending = Atomic<Int>(0)

    /// Counts one more; ``end()`` takes it back.
    func begin() { sending.wrappingAdd(1, ordering: .relaxed) }

    /// Counts one less.
    func end() { sending.wrappingSubtract(1, ordering: .relaxed) }

    /// How long a piece may be now: an answer holds one that is sent, one that is read, and what the socket did not
    /// take.
    var pieceSize: Int {
        let share = Self.total / 3 / max(1, sending.load(ordering: .relaxed))
        return max(Self.smallest, min(Self.largest, share))
    }
}
