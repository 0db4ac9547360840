package import ByteClubCore
package import ByteClubFiles
import Glibc
import Synchronization

/// A regular file open for reading, and how it looked when it was opened.
///
/// Reads are by offset, so any number of threads may share it.
package final class OpenFile: Sendable {
    let path: String
    private let status: FileStatus
    private let file: OwnedDescriptor<RemoteError>
    /// Identifies the file's present state, also for later processes.
    let state: String

    /// The length in bytes that it had when it was opened.
    var size: Int64 { status.size }

    /// Opens a file.
    package init(reading path: String) throws(RemoteError) {
        if path.utf8.contains(0) { throw RemoteError(.localFile, "the file's path contains a NUL") }
        guard let (file, status) = try OwnedDescriptor<RemoteError>.regularFile(path) else {
            throw RemoteError(.localFile, "'\(path)' is not a regular file")
        }
        self.path = path
        self.file = file
        self.status = status
        let (device, changed) = (status.raw.st_dev, status.raw.st_ctim)
        state = [
            Int64(truncatingIfNeeded: device), Int64(bitPattern: status.inode), status.size, status.modified,
            status.nanoseconds,
            Int64(changed.tv_sec), Int64(changed.tv_nsec),
        ].map(String.init).joined(separator: " ")
    }

    /// Fills the first bytes of an array from an offset.
    func read(into bytes: inout [UInt8], count: Int, at offset: Int64) throws(RemoteError) {
        if try file.read(into: &bytes, count: count, at: offset) < count { throw changed }
    }

    /// All bytes, for a file that is known to be small.
    package func readAll() throws(RemoteError) -> [UInt8] {
        let bytes = try file.read(Int(size), at: 0)
        if bytes.count < size { throw changed }
        try verify()
        return bytes
    }

    /// Fails when the file, or the one its path names now, is not as it was when it was opened.
    func verify() throws(RemoteError) {
        guard status.isUnchanged(since: try? file.fileStatus()), status.isUnchanged(since: FileStatus(path)) else {
            throw changed
        }
    }

    private var changed: RemoteError { RemoteError(.localFile, "'\(path)' changed while being read") }
}

/// Local files as downloads make them.
enum LocalFile {
    /// Writes a file that is there only when all its bytes are.
    static func write(_ bytes: [UInt8], to path: String) throws(RemoteError) {
        var draft = try DraftFile<RemoteError>(stagingPath(for: path), O_TRUNC, shownAs: path)
        try draft.file.write(bytes)
        try draft.file.close()
        try draft.place(at: path)
    }

    /// The bytes of a short file; nil when it cannot be read.
    static func read(_ path: String) -> [UInt8]? {
        guard let file = try? OpenFile(reading: path), file.size <= 1 << 20 else { return nil }
        return try? file.readAll()
    }

    /// A hidden name in the same folder, which no other download uses.
    static func stagingPath(for path: String) -> String {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        return folder + ".byteclub-\(getpid())-\(lastStaged.wrappingAdd(1, ordering: .relaxed).newValue).part"
    }

    /// Renames a whole file to its place; when that fails, the file is removed.
    static func put(_ staged: String, at path: String) throws(RemoteError) {
        guard unsafe rename(staged, path) != 0 else { return }
        let failure = FileFailure("write", path)
        remove(staged)
        throw RemoteError(failure)
    }

    /// Removes a file, if it is there.
    static func remove(_ path: String) { _ = unsafe unlink(path) }

    private static let lastStaged = Atomic<UInt64>(0)
}

extension RemoteError: FileFailureConvertible {
    /// Describes why a local file could not be read or written.
    package init(_ failure: FileFailure) {
        let action = ["create", "write"].contains(failure.operation) ? "write" : "read"
        self.init(.localFile, "\(FileFailure(action, failure.path, failure.code))")
    }
}
