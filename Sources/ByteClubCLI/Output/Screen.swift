import ByteClubCore
import Synchronization

/// A terminal for results, which gets nothing that it would obey: names and texts are those of others.
///
/// Into a pipe or a file results go as they are.
final class Screen: Sendable {
    /// Longer texts are spelled out in pieces of so many bytes.
    private static let piece = 64 << 10

    private let hasSpelledOut = Mutex(false)

    /// An output that writes to another what may be shown of its bytes; each write is a text of its own.
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

    /// Says so when something was not shown as it is.
    func describe(_ context: Context) {
        if hasSpelledOut.withLock({ $0 }) {
            context.note("control characters are made visible, as in ^[; a pipe or file gets the exact bytes")
        }
    }
}
