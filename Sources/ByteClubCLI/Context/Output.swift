import Glibc

/// Where results or messages go.
struct Output: Sendable {
    /// The reader of the other end has gone: there is nobody left to tell.
    struct BrokenPipe: Error {}

    private let put: @Sendable ([UInt8]) throws -> Void
    private let putVisible: @Sendable ([UInt8]) throws -> Void

    /// Creates an output from what takes its bytes.
    init(_ put: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.put = put
        putVisible = put
    }

    /// Creates an output that changes what it writes to another, but for what can be shown already.
    init(before other: Output, _ put: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.put = put
        putVisible = other.putVisible
    }

    /// An output of which each write is done within something.
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
            do { try LocalFile.write(bytes, to: descriptor, name) } catch let error as FileError {
                throw error.number == EPIPE ? BrokenPipe() : error
            }
        }
    }

    /// Writes bytes as they are.
    func write(_ bytes: [UInt8]) throws { try put(bytes) }

    /// Writes a text as it is.
    func write(_ text: String) throws { try put(Array(text.utf8)) }

    /// Writes a line in which all that is of others can be shown already, so that the rest may drive the terminal.
    func visibleLine(_ text: String) throws { try putVisible(Array((text + "\n").utf8)) }

    /// Writes what drives the terminal on purpose, and holds nothing of others that would.
    func writeVisible(_ bytes: [UInt8]) throws { try putVisible(bytes) }

    /// Writes a line.
    func line(_ text: String) throws { try put(Array((text + "\n").utf8)) }
}
