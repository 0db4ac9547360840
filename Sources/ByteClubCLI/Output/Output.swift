import ByteClubCore
import ByteClubFiles
import Glibc
import Synchronization

/// Where results or messages go.
struct Output: Sendable {
    /// The reader of the pipe has exited.
    struct BrokenPipe: Error {}

    private let put: @Sendable ([UInt8]) throws -> Void
    private let putVisible: @Sendable ([UInt8]) throws -> Void

    /// Creates an output from a function that writes bytes.
    init(_ put: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.put = put
        putVisible = put
    }

    /// Creates an output whose `put` transforms bytes on their way to another, except for bytes that are already safe.
    init(before other: Output, _ put: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.put = put
        putVisible = other.putVisible
    }

    /// An output that wraps each write in a function.
    func around(
        _ body: @escaping @Sendable (_ write: () throws -> Void) throws -> Void
    ) -> Output {
        Output(
            before: Output { bytes in try body { try putVisible(bytes) } },
            { bytes in try body { try put(bytes) } })
    }

    /// An open file of the process.
    static func descriptor(_ descriptor: Int32, _ name: String) -> Output {
        Output { bytes in
            do { try LocalFile.write(bytes, to: descriptor, name) } catch let error as FileFailure {
                throw error.code == EPIPE ? BrokenPipe() : error
            }
        }
    }

    /// Writes bytes as they are.
    func write(_ bytes: [UInt8]) throws { try put(bytes) }

    /// Writes a text unchanged.
    func write(_ text: String) throws { try put(Array(text.utf8)) }

    /// Writes a line whose names and texts are escaped already, so that it may contain escape sequences.
    func visibleLine(_ text: String) throws { try putVisible(Array((text + "\n").utf8)) }

    /// Writes escape sequences; the bytes contain no text of other people.
    func writeVisible(_ bytes: [UInt8]) throws { try putVisible(bytes) }

    /// Writes a line.
    func line(_ text: String) throws { try put(Array((text + "\n").utf8)) }
}

/// An output that buffers short lines and writes them together, a moment after the first.
///
/// The reader of a pipe wakes once for all of them.
final class GatheredOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var failure: (any Error)?
        /// Flushes the buffer when it is due.
        var flush: Task<Void, any Error>?
    }

    private static let most = 1 << 15
    private static let moment = Duration.milliseconds(20)

    private let output: Output
    private let state = Mutex(State())

    init(_ output: Output) { self.output = output }

    /// Buffers bytes; throws errors of these or earlier writes.
    func write(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            state.bytes += bytes
            if state.bytes.count >= Self.most || state.failure != nil { return try flush(&state) }
            guard state.flush == nil else { return }
            state.flush = Task { [weak self] in
                try await Task.sleep(for: Self.moment)
                try self?.flush()
            }
        }
    }

    /// Writes the buffer now; throws errors of earlier writes as well.
    func flush() throws { try state.withLock { try flush(&$0) } }

    private func flush(_ state: inout State) throws {
        state.flush?.cancel()
        state.flush = nil
        let bytes = state.bytes
        state.bytes = []
        if let failure = state.failure { throw failure }
        if bytes.isEmpty { return }
        do { try output.write(bytes) } catch {
            state.failure = error
            throw error
        }
    }
}

/// A filter that escapes control characters in results, since names and texts are written by other people.
///
/// Output to a pipe or file is not filtered.
final class Screen: Sendable {
    /// The bytes of a longer text that are escaped at once.
    private static let piece = 64 << 10

    private let hasSpelledOut = Mutex(false)

    /// An output that escapes control characters on their way to another; each write is a separate text.
    func before(_ output: Output) -> Output {
        Output(before: output) { [self] bytes in
            var text = VisibleText()
            var rest = bytes[...]
            repeat {
                var shown = text.take(rest.prefix(Self.piece))
                rest = rest.dropFirst(Self.piece)
                if rest.isEmpty { shown += text.finish() }
                if text.hasSpelledOut { hasSpelledOut.withLock { $0 = true } }
                try output.write(shown)
            } while !rest.isEmpty
        }
    }

    /// Prints a note if something was escaped.
    func describe(_ context: Context) {
        if hasSpelledOut.withLock({ $0 }) {
            context.note("control characters are made visible, as in ^[; a pipe or file gets the exact bytes")
        }
    }
}
