/// A body that comes from a sequence.
///
/// Read ahead of the network by at most a mebibyte and one element; then the sequence waits. It is read by a Swift task
/// of its own, which is cancelled when the request ends.
public struct BodyStream: Sendable {
    /// How many bytes the sequence brings; nil when that is not known, and the body is sent in chunks.
    public let length: Int64?

    /// Hands the elements to a function one after another; the function waits, and throws when no more are wanted.
    let run: @Sendable (_ deliver: @Sendable (ArraySlice<UInt8>) async throws -> Void) async throws -> Void

    /// Makes a body from a sequence of byte chunks.
    ///
    /// A sequence that fails or ends before its length fails the task with ``TransferError/Code/bodyFailed``; what goes
    /// beyond the length is not sent. One that brings nothing for longer than
    /// ``SessionConfiguration/timeoutForRequest`` times out.
    ///
    /// - Parameters:
    ///   - chunks: What is sent; iterated once.
    ///   - length: How many bytes it brings, if that is known.
    public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64? = nil)
    where Chunks.Element: Sequence<UInt8> & Sendable {
        self.length = length.map { max($0, 0) }
        run = { deliver in
            for try await chunk in chunks { try await deliver(ArraySlice(chunk)) }
        }
    }
}
