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

    /// Bytes and files one after the other; its files are read while they are sent, and only one is open at a time.
    ///
    /// The length is known before anything is sent. A file that changes between the start of an attempt and its end fails
    /// the task with ``TransferError/Code/fileChanged``.
    case parts([BodyPart])

    /// A form of several parts, as browsers send it (RFC 7578); its files are read while they are sent.
    ///
    /// The length is known before anything is sent. The field `Content-Type` is set.
    case multipart(Multipart)

    /// What a sequence brings, while it brings it; never sent twice.
    ///
    /// A task whose stream has begun is not tried again, and a redirect that keeps the body fails it.
    case stream(BodyStream)
}

/// A part of ``Body/parts(_:)``.
public enum BodyPart: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])

    /// `length` bytes of a regular file from an offset; nil for all that follow.
    case file(path: String, offset: Int64 = 0, length: Int64? = nil)
}
