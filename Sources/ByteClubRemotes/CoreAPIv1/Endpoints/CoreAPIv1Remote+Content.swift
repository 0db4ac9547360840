public import ByteClubCore
import ByteClubHTTP
import Glibc
import HTTPTypes
import Synchronization

extension CoreAPIv1Remote {
    /// The bytes of a file or of a part of it. `GET /1/files/<root>/<path>`
    public func content(
        at path: RemotePath, revision: Revision?, range: Range<Int64>?, limit: Int
    ) async throws(RemoteError) -> (bytes: [UInt8], metadata: Metadata) {
        var fields = HTTPFields()
        if let range {
            guard range.lowerBound >= 0, !range.isEmpty else {
                throw RemoteError(.badRequest, "'\(path)' has no bytes in the range \(range)")
            }
            fields[.range] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        }
        var options = contentOptions
        // A refusal must fit as well.
        options.maximumResponseBytes = max(limit, 64 << 10)
        let announcement = Announcement(of: path, limit: Int64(limit))
        options.maximumBodyBytes = { announcement.limit(of: $0) }
        let answer = try await transport.get(
            address("files", path), query: ["rev": revision?.description],
            statuses: range == nil ? [200] : [200, 206], fields: fields, options: options, through: contentSession,
            excess: { announcement.excess })
        let metadata = try answer.metadataField()
        if answer.status == 206, let range {
            try Self.check(answer, range, metadata)
        } else {
            try Self.check(Int64(answer.bytes.count), ContentHasher.hash(answer.bytes), metadata, path)
        }
        let bytes = answer.status == 200 ? Self.part(answer.bytes, range) : answer.bytes
        guard bytes.count <= limit else { throw RemoteError.tooLarge(path, Int64(limit)) }
        return (bytes, metadata)
    }

    /// Writes a file's bytes to a new local file. `GET /1/files/<root>/<path>`
    public func download(
        _ path: RemotePath, revision: Revision?, limit: Int64?, to file: String, journal: String?,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata {
        let staged = journal == nil ? LocalFile.stagingPath(for: file) : file
        var isWhole = false
        defer { if !isWhole { LocalFile.remove(staged) } }
        let request = transport.request(.get, address("files", path), query: ["rev": revision?.description])
        var options = contentOptions
        let announcement = Announcement(of: path, limit: limit ?? .max)
        options.maximumBodyBytes = { announcement.limit(of: $0) }
        let answer = try await transport.perform(request, excess: { announcement.excess }) {
            [options] () throws(TransferError) in
            try await receive(request, to: staged, journal, options, Self.received(progress))
        }
        let metadata = try answer.metadataField()
        let written = try OpenFile(reading: staged)
        try Self.check(written.size, await FileHash.start(written).value, metadata, path)
        if staged != file { try LocalFile.put(staged, at: file) }
        isWhole = true
        return metadata
    }

    /// A smaller picture of a photo. `GET /1/thumbnails/<root>/<path>`
    public func thumbnail(
        of path: RemotePath, size: ThumbnailSize, format: ThumbnailImageFormat
    ) async throws(RemoteError) -> (bytes: [UInt8], metadata: Metadata) {
        let answer = try await transport.get(
            address("thumbnails", path), query: ["size": size.rawValue, "format": format.rawValue],
            through: contentSession)
        return (answer.bytes, try answer.metadataField())
    }

    /// Fails unless the bytes of a whole file are those that its metadata tell of.
    private static func check(
        _ count: Int64, _ hash: ContentHash, _ metadata: Metadata, _ path: RemotePath
    ) throws(RemoteError) {
        if count != metadata.bytes {
            throw RemoteError(
                .protocolViolation, "the server sent \(count) bytes of '\(path)', which has \(metadata.bytes)")
        }
        if let reported = metadata.contentHash, reported != hash {
            throw RemoteError(.protocolViolation, "the server sent bytes of '\(path)' that do not match their hash")
        }
    }

    /// Checks that a partial answer has the requested range, as far as the file has it.
    private static func check(
        _ answer: Transport.Answer, _ range: Range<Int64>, _ metadata: Metadata
    ) throws(RemoteError) {
        let end = min(range.upperBound, metadata.bytes)
        let expected = "bytes \(range.lowerBound)-\(end - 1)/\(metadata.bytes)"
        guard Int64(answer.bytes.count) == end - range.lowerBound,
            answer.response.headerFields[.contentRange] == expected
        else {
            throw RemoteError(.protocolViolation, "the answer of \(answer.club) is not the requested range")
        }
    }

    private static func part(_ bytes: [UInt8], _ range: Range<Int64>?) -> [UInt8] {
        guard let range else { return bytes }
        let count = Int64(bytes.count)
        return Array(bytes[Int(min(range.lowerBound, count))..<Int(min(range.upperBound, count))])
    }

    private static func received(
        _ progress: (@Sendable (TransferProgress) -> Void)?
    ) -> (@Sendable (TaskProgress) -> Void)? {
        guard let progress else { return nil }
        return { update in
            let total = update.bytesExpectedToReceive
            progress(TransferProgress(completed: update.bytesReceived, total: total < 0 ? nil : total))
        }
    }
}

/// The length of a content as the server announces it, and the limit of the caller.
private final class Announcement: Sendable {
    private let path: RemotePath
    private let limit: Int64
    private let reported = Mutex<Int64?>(nil)

    init(of path: RemotePath, limit: Int64) {
        self.path = path
        self.limit = limit
    }

    /// The most bytes that may come; without metadata there is nothing to hold them against, so none may.
    func limit(of response: HTTPResponse) -> Int64 {
        let bytes = try? Transport.metadata(of: response, "").bytes
        reported.withLock { $0 = bytes }
        return min(limit, bytes ?? 0)
    }

    /// The error for more bytes than that.
    var excess: RemoteError {
        guard let reported = reported.withLock({ $0 }) else {
            return RemoteError(.protocolViolation, "the server sends '\(path)' without its length")
        }
        if reported > limit { return .tooLarge(path, limit) }
        return RemoteError(
            .protocolViolation, "the server sends more bytes of '\(path)' than the \(reported) that it has")
    }
}

extension CoreAPIv1Remote {
    /// Receives a body into a new file, and resumes where the journal ends, if there is one.
    ///
    /// What came is kept when the transfer fails or is cancelled, for the next one to go on with.
    func receive(
        _ request: HTTPRequest, to file: String, _ journal: String?, _ options: TaskOptions,
        _ progress: (@Sendable (TaskProgress) -> Void)?
    ) async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse) {
        let session = try contentSession.session
        guard let journal else {
            let result = try await session.download(
                for: request, to: file, options: options, progress: progress)
            return (result.bytes, result.response)
        }
        var options = options
        options.resumeJournal = journal
        let earlier = LocalFile.read(journal).flatMap { try? ResumeData(bytes: $0) }
        let task =
            earlier.map { session.downloadTask(resuming: $0, request: request, to: file, options: options) }
            ?? session.downloadTask(request, to: file, options: options)
        let outcome = await Self.outcome(of: task, progress)
        let left =
            switch outcome {
            // Such as an answer that the server is busy.
            case .success(let result): result.resumeData
            case .failure(let error): error.resumeData
            }
        if let left { try? LocalFile.write(left.bytes, to: journal) }
        let result = try outcome.get()
        return (result.bytes, result.response)
    }

    private static func outcome(
        of task: SessionTask, _ progress: (@Sendable (TaskProgress) -> Void)?
    ) async -> Result<TaskResult, TransferError> {
        await withTaskCancellationHandler {
            task.resume()
            return await withTaskGroup(of: Void.self) { group in
                // The reader ends with the task: it must see the last counters.
                group.addTask { for await update in task.progressUpdates { progress?(update) } }
                do throws(TransferError) { return .success(try await task.value) } catch { return .failure(error) }
            }
        } onCancel: {
            Task { _ = await task.cancelKeepingResumeData() }
        }
    }
}
