/// The body of a request.
public enum Body: Sendable {
    /// No body. Methods that normally have one send `Content-Length: 0`.
    case none

    /// Bytes in memory.
    case bytes([UInt8])

    /// Part of a regular file, read while it is sent and never held in memory.
    ///
    /// A nil `length` means up to the end that the file has when the first attempt starts. A file that changes after
    /// that fails the task with ``TransferError/Code/fileChanged``.
    case file(path: String, offset: Int64 = 0, length: Int64? = nil)

    /// Bytes and files, one after another. Files are read while they are sent, and only one is open at a time.
    ///
    /// The length is known before anything is sent. A file that changes between the start of an attempt and its end fails
    /// the task with ``TransferError/Code/fileChanged``.
    case parts([BodyPart])

    /// A multipart form, as browsers send it (RFC 7578). Its files are read while they are sent.
    ///
    /// The length is known before anything is sent. The field `Content-Type` is set.
    case multipart(Multipart)

    /// The chunks of a sequence, sent as they arrive; they cannot be sent a second time.
    ///
    /// A task whose stream has started is not retried, and a redirect that keeps the body fails it.
    case stream(BodyStream)
}

/// A part of ``Body/parts(_:)``.
public enum BodyPart: Sendable, Hashable {
    /// Bytes in memory.
    case bytes([UInt8])

    /// `length` bytes of a regular file from an offset; nil means up to the end of the file.
    case file(path: String, offset: Int64 = 0, length: Int64? = nil)
}

/// A body produced by an asynchronous sequence.
///
/// At most one mebibyte and one element are read ahead of the network; then the sequence waits. A separate Swift task
/// reads the sequence and is cancelled when the request ends.
public struct BodyStream: Sendable {
    /// The number of bytes that the sequence produces; nil if unknown, and then the body is sent in chunks.
    public let length: Int64?

    /// Passes each element to a function, which suspends while its buffer is full and throws when no more bytes are
    /// needed.
    let run: @Sendable (_ deliver: @Sendable (ArraySlice<UInt8>) async throws -> Void) async throws -> Void

    /// Makes a body from a sequence of byte chunks.
    ///
    /// A sequence that fails or ends before its length fails the task with ``TransferError/Code/bodyFailed``; bytes
    /// beyond the length are not sent. A sequence that produces nothing for longer than
    /// ``SessionConfiguration/timeoutForRequest`` times out.
    ///
    /// - Parameters:
    ///   - chunks: The bytes to send; iterated once.
    ///   - length: The number of bytes, if it is known.
    public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64? = nil)
    where Chunks.Element: Sequence<UInt8> & Sendable {
        self.length = length.map { max($0, 0) }
        run = { deliver in
            for try await chunk in chunks { try await deliver(ArraySlice(chunk)) }
        }
    }
}
