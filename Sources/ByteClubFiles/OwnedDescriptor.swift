package import Glibc
import Synchronization

/// An open file or folder, or another descriptor, that is closed with its last reference.
package final class OwnedDescriptor<Failure: FileFailureConvertible>: Sendable {
    /// The descriptor's number, for calls that are not here.
    package let number: Int32
    /// The file's path when it was opened, as errors show it.
    package let path: String
    private let isLocked = Atomic(false)
    private let isClosed = Atomic(false)

    /// Owns an open descriptor from now on.
    package init(owning number: Int32, path: String) {
        self.number = number
        self.path = path
    }

    /// Opens a file; a program that this process starts does not have it.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - flags: The flags of open(2).
    ///   - mode: The permissions of a new file.
    ///   - operation: The operation in the error when it cannot be opened.
    ///   - shown: The path in errors, if it is not `path`.
    /// - Throws: The failure of that operation.
    package convenience init(
        _ path: String, _ flags: Int32, mode: mode_t = 0o600, for operation: String = "open",
        shownAs shown: String? = nil
    ) throws(Failure) {
        let number = unsafe open(path, flags | O_CLOEXEC, mode)
        if number < 0 { throw Failure(FileFailure(operation, shown ?? path)) }
        self.init(owning: number, path: shown ?? path)
    }

    /// Opens a regular file for reading at any place; nil when something else is there.
    ///
    /// With `O_NOFOLLOW` a link there is not followed.
    package static func regularFile(
        _ path: String, _ flags: Int32 = 0
    ) throws(Failure) -> (file: OwnedDescriptor, status: FileStatus)? {
        let file = try OwnedDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags)
        let status = try file.fileStatus(for: "examine")
        return status.isFile ? (file, status) : nil
    }

    /// Waits until the entries of a folder are on disk.
    package static func syncFolder(_ path: String, for operation: String = "sync") throws(Failure) {
        try OwnedDescriptor(path, O_RDONLY | O_DIRECTORY, for: operation).sync(for: operation)
    }

    /// Closing alone would not give a lock back: a program that is just being started has a copy until its exec.
    deinit {
        if isLocked.load(ordering: .relaxed) { flock(number, LOCK_UN) }
        if !isClosed.load(ordering: .relaxed) { Glibc.close(number) }
    }

    /// Closes a file that nothing uses any more, and reports what the system finds out only then.
    package func close() throws(Failure) {
        isClosed.store(true, ordering: .relaxed)
        if Glibc.close(number) != 0 { throw failure("write") }
    }

    /// The file's status.
    package func fileStatus(for operation: String = "read") throws(Failure) -> FileStatus {
        guard let status = FileStatus(of: number) else { throw failure(operation) }
        return status
    }

    /// Writes all bytes at a place, or without one at the descriptor's own.
    package func write(_ bytes: [UInt8], at offset: Int64? = nil) throws(Failure) {
        let code = unsafe bytes.withUnsafeBytes { unsafe writeAll($0, to: number, at: offset).code }
        if code != 0 { throw Failure(FileFailure("write", path, code)) }
    }

    /// Fills an array, or so many bytes at its start, and returns the number of bytes read; fewer only at
    /// the file's end.
    package func read(into bytes: inout [UInt8], count: Int? = nil, at offset: Int64) throws(Failure) -> Int {
        let (filled, code) = unsafe bytes.withUnsafeMutableBytes { buffer in
            let wanted = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count ?? buffer.count))
            return unsafe readAll(into: wanted, from: number, at: offset)
        }
        if code != 0 { throw Failure(FileFailure("read", path, code)) }
        return filled
    }

    /// Reads bytes from a place; fewer than asked for only at the file's end.
    package func read(_ count: Int, at offset: Int64) throws(Failure) -> [UInt8] {
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let bytes = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count])
            (filled, code) = unsafe readAll(into: bytes, from: number, at: offset)
        }
        if code != 0 { throw Failure(FileFailure("read", path, code)) }
        return bytes
    }

    /// Cuts the file off.
    package func truncate(to length: Int64) throws(Failure) {
        guard ftruncate(number, off_t(length)) == 0 else { throw failure("shorten") }
    }

    /// Waits until the bytes, or a folder's entries, and all that the file system knows of the file are on disk.
    package func sync(for operation: String = "sync") throws(Failure) {
        guard fsync(number) == 0 else { throw failure(operation) }
    }

    /// Waits until the bytes and the length are on disk.
    package func syncData() throws(Failure) {
        guard fdatasync(number) == 0 else { throw failure("sync") }
    }

    /// Locks the file until the descriptor ends, by flock(2); false when it would have to wait and may not.
    package func lock(_ kind: Int32 = LOCK_EX | LOCK_NB) throws(Failure) -> Bool {
        while flock(number, kind) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw failure("lock") }
        }
        isLocked.store(true, ordering: .relaxed)
        return true
    }

    /// The error of the system call before, for an operation on this file.
    package func failure(_ operation: String) -> Failure { Failure(FileFailure(operation, path)) }
}

/// Writes all bytes at a place, or without one at the descriptor's own; returns how many were written, and 0 or the
/// error's number.
package func writeAll(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int64? = nil
) -> (count: Int, code: Int32) {
    var written = 0
    while written < bytes.count, let start = bytes.baseAddress {
        let (rest, count) = unsafe (start + written, bytes.count - written)
        let result =
            if let offset {
                unsafe pwrite(descriptor, rest, count, off_t(offset) + off_t(written))
            } else {
                unsafe write(descriptor, rest, count)
            }
        if result >= 0 { written += result } else if errno != EINTR { return (written, errno) }
    }
    return (written, 0)
}

/// Fills a buffer from a place; returns how many bytes were read, fewer only at the file's end, and 0 or the error's
/// number.
package func readAll(
    into buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64
) -> (count: Int, code: Int32) {
    var filled = 0
    while filled < buffer.count, let start = buffer.baseAddress {
        let count = unsafe pread(descriptor, start + filled, buffer.count - filled, off_t(offset) + off_t(filled))
        if count == 0 { break }
        if count > 0 { filled += count } else if errno != EINTR { return (filled, errno) }
    }
    return (filled, 0)
}
