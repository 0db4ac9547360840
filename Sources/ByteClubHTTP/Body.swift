/// What a request carries.
public enum Body: Sendable {
    /// No body. Methods that normally have one send `Content-Length: 0`.
    case none

    /// Bytes in memory.
    case bytes([UInt8])

    /// Part of a regular file, read while it is sent and never held in memory.
    ///
    /// `length` nil means up to the end the file has when its turn comes. A file that changes meanwhile fails the task
    /// with ``TransferError/Code/fileChanged``.
    case file(path: String, offset: Int64 = 0, length: Int64? = nil)
}
