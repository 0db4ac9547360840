import ByteClubFiles
import CLibcurl
import Glibc

/// A regular file for upload, with its state when it was first opened.
final class UploadFile {
    let length: Int64
    private let path: String
    private let start: Int64
    private let status: FileStatus
    /// Nil while it is closed.
    private var file: OwnedDescriptor<UploadSource.Failure>?
    private var advised: Int64 = 0
    /// Whether all reads so far were served from the page cache; then reading ahead only costs time.
    private var isCached = true

    private static let readAhead: Int64 = 8 << 20

    init(path: String, offset: Int64, length: Int64?) throws(UploadSource.Failure) {
        let (file, status) = try Self.open(path)
        let count = length ?? max(status.size - offset, 0)
        guard offset >= 0, count >= 0, offset <= status.size, count <= status.size - offset else {
            throw UploadSource.Failure(
                code: .fileChanged, message: "\(path) has \(status.size) bytes, fewer than the request needs")
        }
        self.path = path
        self.file = file
        self.status = status
        self.start = offset
        self.length = count
    }

    /// Closes the file; it is opened again when it is read.
    func release() { file = nil }

    private static func open(
        _ path: String
    ) throws(UploadSource.Failure) -> (file: OwnedDescriptor<UploadSource.Failure>, status: FileStatus) {
        guard !path.utf8.contains(0) else {
            throw UploadSource.Failure(code: .fileUnreadable, message: "the path of the file contains a NUL character")
        }
        guard let found = try OwnedDescriptor<UploadSource.Failure>.regularFile(path) else {
            throw UploadSource.Failure(code: .fileUnreadable, message: "\(path) is not a regular file")
        }
        return found
    }

    private func reopen() throws(UploadSource.Failure) -> OwnedDescriptor<UploadSource.Failure> {
        let (file, status) = try Self.open(path)
        guard self.status.isUnchanged(since: status) else { throw .changed(path) }
        self.file = file
        return file
    }

    /// Reads at an offset from the part's start; returns at least one byte.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(UploadSource.Failure) -> Int {
        let descriptor = if let file { file.number } else { try reopen().number }
        if offset == 0 { posix_fadvise(descriptor, off_t(start), off_t(length), POSIX_FADV_SEQUENTIAL) }
        if isCached {
            let count = unsafe byteclub_read_cached(descriptor, buffer.baseAddress, buffer.count, start + offset)
            if count > 0 { return count }
            isCached = false
        }
        if length > Self.readAhead, offset + Self.readAhead / 2 >= advised, advised < length {
            posix_fadvise(descriptor, off_t(start + offset), off_t(Self.readAhead), POSIX_FADV_WILLNEED)
            advised = offset + Self.readAhead
        } else if offset + Self.readAhead < advised {
            advised = offset
        }
        while true {
            let count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(start + offset))
            if count > 0 { return count }
            if count == 0 { throw .changed(path) }
            if Glibc.errno != EINTR { throw .unreadable(path, Glibc.errno) }
        }
    }

    /// Compares the open file, and the file at its path, with the state when it was opened.
    func verify() throws(UploadSource.Failure) {
        if let file, !status.isUnchanged(since: try? file.fileStatus()) { throw .changed(path) }
        guard status.isUnchanged(since: FileStatus(path)) else { throw .changed(path) }
    }
}

extension UploadSource.Failure: FileFailureConvertible {
    init(_ failure: FileFailure) { self = .unreadable(failure.path, failure.code) }

    static func unreadable(_ path: String, _ errno: Int32) -> Self {
        Self(code: .fileUnreadable, message: "\(path) cannot be read: \(systemMessage(errno))", errno: errno)
    }

    static func changed(_ path: String) -> Self {
        Self(code: .fileChanged, message: "\(path) changed while it was sent")
    }
}

/// The system's message for an error number.
func systemMessage(_ code: Int32) -> String { FileFailure.reason(code) }
