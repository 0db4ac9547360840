/// Makes frames of the bytes that a connection brings, in whatever pieces they come.
struct FrameBuffer {
    private var bytes: [UInt8] = []

    /// Whether no frame has begun.
    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ more: some Collection<UInt8>) { bytes += more }

    /// Takes the next frame; nil until the rest of it comes.
    ///
    /// - Throws: ``TransferError/Code/protocolViolation`` for what is no frame; nothing after it can be understood.
    mutating func next() throws(TransferError) -> DaemonFrame? {
        guard bytes.count >= 4 else { return nil }
        let count = bytes[..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard count <= DaemonFrame.limit else {
            throw TransferError(.protocolViolation, "a message of \(count) bytes is no message")
        }
        guard bytes.count - 4 >= count else { return nil }
        defer {
            // A long message's room is given back.
            if bytes.count == 4 + count { bytes = [] } else { bytes.removeFirst(4 + count) }
        }
        do { return try DaemonFrame(decoding: bytes[4..<(4 + count)]) } catch {
            throw TransferError(.protocolViolation, "a message cannot be understood")
        }
    }
}
