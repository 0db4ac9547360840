import ByteClubFiles
import Glibc
public import HTTPTypes
import Synchronization

/// The data to resume an unfinished download: its temporary file, and the version of the resource that it is part of.
///
/// It exists for a GET with response 200 (or 206 for a resumed download), without content encoding, with a strong
/// `ETag` or a `Last-Modified` at least a minute older than `Date`, from a server that does not refuse ranges
/// (`Accept-Ranges: none`). Resuming sends `Range: bytes=N-` with `If-Range`, so a file that changed on the server
/// starts over, and bytes of two versions are never mixed.
///
/// **Lifetime of the temporary file.** The file exists as long as a copy of this value does, and is removed with the
/// last copy. Once ``bytes`` was read, the file is kept until the download is resumed or ``discard()`` is called, since
/// the bytes may have been stored; the same holds for a value created from stored bytes.
///
/// It can be used once. A second use, or a temporary file that was changed or removed, downloads from the start.
public struct ResumeData: Sendable, CustomStringConvertible {
    private let keeper: TemporaryFileKeeper

    var record: ResumeRecord { keeper.record }

    /// Creates the data of a temporary file that a download has just left.
    init(_ record: ResumeRecord) { keeper = TemporaryFileKeeper(record, .held) }

    /// Reads the bytes of ``bytes`` or of a ``TaskOptions/resumeJournal``.
    ///
    /// - Parameter bytes: All the bytes.
    /// - Throws: ``TransferError/Code/resumeDataUnusable`` if they are truncated, damaged or of another version.
    ///   Whether the temporary file still exists is checked when the download starts.
    public init(bytes: [UInt8]) throws(TransferError) {
        do {
            keeper = TemporaryFileKeeper(try ResumeRecord(decoding: bytes), .stored)
        } catch {
            throw TransferError(.resumeDataUnusable, "\(error.message); start the download without them")
        }
    }

    /// The data as bytes that a program may store; reading them keeps the temporary file.
    ///
    /// They contain the URL with its query and the response's fields without cookies, but no request fields.
    public var bytes: [UInt8] {
        keeper.store()
        return record.encoded
    }

    /// The requested URL with its query.
    public var url: String { "\(record.scheme)://\(record.authority)\(record.target)" }

    /// A GET of that URL without fields.
    public var request: HTTPRequest { record.request }

    /// The absolute path of the temporary file.
    public var temporaryFile: String { record.temporary }

    /// The number of bytes already received.
    public var bytesReceived: Int64 { record.count }

    /// The length of the whole file, or -1 if it is unknown.
    public var bytesExpectedToReceive: Int64 { record.total ?? -1 }

    /// The entity tag or date that identifies the version, in the format of `If-Range`.
    var validator: String { record.validator.text }

    /// The progress of the download in one line, without the URL's query.
    public var description: String {
        let total = record.total.map { " of \($0)" } ?? ""
        let path = record.target.prefix { $0 != "?" }
        return "\(record.count)\(total) bytes of \(record.scheme)://\(record.authority)\(path)"
    }

    /// Removes the temporary file, unless a task uses these data.
    ///
    /// Blocks while the file system removes the file.
    public func discard() { keeper.discard() }

    /// Returns the record to the task that becomes the owner of the file.
    func take() -> ResumeRecord {
        keeper.take()
        return record
    }
}

/// A record, and its temporary file, which is removed when the last copy of the data is released.
private final class TemporaryFileKeeper: Sendable {
    enum State { case held, stored, taken }

    let record: ResumeRecord
    private let state: Mutex<State>

    init(_ record: ResumeRecord, _ state: State) {
        self.record = record
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
        let path = record.temporary
        if FileStatus(path, followsLinks: false)?.inode == record.inode { unsafe unlink(path) }
    }
}

extension Session {
    /// Creates a task that resumes a download.
    ///
    /// It requests the missing bytes on condition that the file on the server has not changed. The result is always one
    /// version of the file: if the part cannot be resumed, because it or the server's file changed, or another task
    /// uses it, the download starts over, which only the counters show. The response is the whole file's: status 200
    /// with its length, however many parts it had.
    ///
    /// - Parameters:
    ///   - data: From ``SessionTask/cancelKeepingResumeData()``, ``TransferError/resumeData``,
    ///     ``TaskResult/resumeData`` or stored bytes. The task becomes the owner of the temporary file when it starts.
    ///   - request: Replaces the GET of the original URL without fields, to add fields such as `Authorization`, which
    ///     resume data never contain, or to use a newly signed URL. It must refer to the same resource. A request that
    ///     is not a GET, or has its own range, cannot resume anything and starts over.
    ///   - path: The file; its folder must exist. A temporary file in another folder is moved; on another file system
    ///     the download starts over.
    ///   - options: Settings that override the session's.
    /// - Returns: A suspended task.
    public func downloadTask(
        resuming data: ResumeData, request: HTTPRequest? = nil, to path: String, options: TaskOptions = .init()
    ) -> SessionTask {
        SessionTask(
            .download(path: path), request ?? data.request, body: .none, options: options, inbox: inbox,
            resumeData: data, isListed: true)
    }
}

extension SessionTask {
    /// Cancels a download so that it can be resumed later, and waits for its end.
    ///
    /// The same data are in the error that ``value`` throws. Cancelling the Swift task that waits has no effect.
    ///
    /// - Returns: Data for ``Session/downloadTask(resuming:request:to:options:)``; nil if nothing was received yet, if
    ///   it cannot be resumed (see ``ResumeData``), or if the task had already ended or was cancelled.
    public func cancelKeepingResumeData() async -> ResumeData? {
        let isStarted = cancelKeepingPart()
        do {
            _ = try await value
            return nil
        } catch {
            return error.resumeData ?? (isStarted ? nil : resumeData)
        }
    }

    /// Cancels a download so that its error contains the resume data; returns whether it was ever started.
    @discardableResult
    func cancelKeepingPart() -> Bool {
        let isStarted = shared.withLock { shared in
            if shared.state == .suspended || shared.state == .running { shared.keepsResumeData = true }
            return shared.isStarted
        }
        cancel()
        return isStarted
    }
}
