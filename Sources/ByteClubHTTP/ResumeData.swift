import Glibc
public import HTTPTypes
import Synchronization

/// What is needed to continue a download that did not end: where its first bytes are, and of what they are a part.
///
/// It exists for a GET that was answered with 200 (or continued with 206), without content encoding, with a strong
/// `ETag` or a `Last-Modified` at least a minute older than `Date`, by a server that does not refuse ranges
/// (`Accept-Ranges: none`). Continuing asks for `Range: bytes=N-` with `If-Range`, so a file that changed on the server
/// starts over and bytes of two versions never meet.
///
/// **Who removes the temporary file.** Whoever holds a copy of this value holds the file: when the last copy goes away,
/// so does the file. Once ``bytes`` was read they may have been stored, and the file stays until it is resumed or
/// ``discard()`` is called; so it does for a value made from stored bytes.
///
/// It can be used once. A second use, like a temporary file that was changed or taken away, downloads from the start.
public struct ResumeData: Sendable, CustomStringConvertible {
    let record: ResumeRecord
    private let keeper: TemporaryFileKeeper

    /// The data of a file that was just left.
    init(_ record: ResumeRecord) {
        self.record = record
        keeper = TemporaryFileKeeper(record, .held)
    }

    /// Takes bytes that ``bytes`` once gave, or that a ``TaskOptions/resumeJournal`` holds.
    ///
    /// - Parameter bytes: The bytes, all of them.
    /// - Throws: ``TransferError/Code/resumeDataUnusable`` when they are cut off, damaged or of another version.
    ///   Whether the temporary file is still there is found out when the download starts.
    public init(bytes: [UInt8]) throws(TransferError) {
        do {
            record = try ResumeRecord(decoding: bytes)
        } catch {
            throw TransferError(.resumeDataUnusable, "\(error.message); start the download without them")
        }
        keeper = TemporaryFileKeeper(record, .stored)
    }

    /// The same in bytes that a program may store; from then on the temporary file stays.
    ///
    /// They hold the address with its query, and the response's fields without cookies; none of the request's fields.
    public var bytes: [UInt8] {
        keeper.store()
        return record.encoded
    }

    /// The address that was asked for, with its query.
    public var url: String { "\(record.scheme)://\(record.authority)\(record.target)" }

    /// A GET of that address, without any fields.
    public var request: HTTPRequest { record.request }

    /// The absolute path of the temporary file.
    public var temporaryFile: String { record.temporary }

    /// How many bytes need not be asked for again.
    public var bytesReceived: Int64 { record.count }

    /// The length of the whole, or -1 when it is unknown.
    public var bytesExpectedToReceive: Int64 { record.total ?? -1 }

    /// The entity tag or date that the file is known by, as `If-Range` says it.
    public var validator: String { record.validator.text }

    /// How far the download is, in one line without the address's query.
    public var description: String {
        let total = record.total.map { " of \($0)" } ?? ""
        let path = record.target.prefix { $0 != "?" }
        return "\(record.count)\(total) bytes of \(record.scheme)://\(record.authority)\(path)"
    }

    /// Removes the temporary file, unless a task was given these data.
    ///
    /// Blocks for as long as the file system takes to remove a file.
    public func discard() { keeper.discard() }

    /// The record, for the one who takes the file over.
    func take() -> ResumeRecord {
        keeper.take()
        return record
    }
}

/// Removes the temporary file of resume data that nobody holds any more.
private final class TemporaryFileKeeper: Sendable {
    enum State { case held, stored, taken }

    private let path: String
    private let inode: UInt64
    private let state: Mutex<State>

    init(_ record: ResumeRecord, _ state: State) {
        path = record.temporary
        inode = record.inode
        self.state = Mutex(state)
    }

    deinit { if state.withLock({ $0 == .held }) { remove() } }

    func store() { state.withLock { if $0 == .held { $0 = .stored } } }

    func take() { state.withLock { $0 = .taken } }

    func discard() {
        let isOurs = state.withLock { state in
            defer { state = .taken }
            return state != .taken
        }
        if isOurs { remove() }
    }

    private func remove() {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, UInt64(status.st_ino) == inode else { return }
        unsafe unlink(path)
    }
}
