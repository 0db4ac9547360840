import Glibc

/// Holds threads until a test opens it.
final class Gate: Sendable {
    private let reader: Int32
    private let writer: Int32

    init() {
        var ends: (Int32, Int32) = (-1, -1)
        unsafe withUnsafeMutableBytes(of: &ends) { bytes in
            unsafe _ = pipe(bytes.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        (reader, writer) = ends
    }

    deinit {
        close(reader)
        close(writer)
    }

    func open() {
        var byte: UInt8 = 1
        _ = unsafe write(writer, &byte, 1)
    }

    /// Blocks the calling thread until the gate is open, or for three minutes.
    func pass() {
        var entry = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&entry, 1, 180_000)
    }
}
