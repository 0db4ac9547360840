import ByteClubCore

/// Stores photos in a folder on the server, unless it has their bytes.
struct PhotoSender: Sendable {
    let remote: any Remote
    let folder: RemotePath

    /// The target of a file's photo.
    func path(of file: String) throws -> RemotePath {
        do { return try folder.appending(PhotoFile.serverName(of: file)) } catch {
            throw PhotoFile.refusal(of: file, error)
        }
    }

    /// Sends the bytes of `content`, unless the folder already has them under any name.
    ///
    /// - Parameters:
    ///   - file: The named file, which determines the photo's name and date.
    ///   - state: The expected state of that file.
    ///   - content: The file with the bytes.
    ///   - known: The contents of the folder; listed when nil, and updated.
    ///   - begin: Receives the length before an upload, and returns the position to resume from.
    ///   - progress: Receives the progress.
    /// - Returns: The outcome for the photo.
    /// - Throws: Errors of the server or the disk; a ``Failure`` 75, with nothing stored, when the file has changed.
    func send(
        _ file: String, _ state: FileState, _ content: String, _ known: inout KnownPhotos?,
        begin: (_ size: Int64) -> UploadResumption?, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> UploadedPhoto {
        let path = try path(of: file)
        let size = try LocalFile.size(content)
        if known == nil { known = try await KnownPhotos(of: folder, remote) }
        if known?.hasOne(of: size) == true {
            let (own, _) = try await BlockingWork.run { try LocalFile.hash(content) }
            if let there = known?.one(of: size, own, named: path) {
                return UploadedPhoto(event: .present, file: file, path: there.path, bytes: size, rev: there.rev)
            }
        }
        let source = Content.file(path: content, resumption: begin(size))
        let modified = try LocalFile.modified(file)
        let stored: Metadata
        do {
            stored = try await remote.put(
                source, at: path, modified: modified, condition: .create, policy: .rename, progress: progress)
        } catch {
            throw state.isWrittenTo(at: file) ? Self.written(file) : error
        }
        if state.isWrittenTo(at: file) {
            // An incomplete photo must not be visible.
            _ = try await remote.delete(stored.path, ifUnchangedSince: stored.rev)
            throw Self.written(file)
        }
        known?.add(stored)
        let event: UploadedPhoto.Event = stored.path.key == path.key ? .uploaded : .renamed
        return UploadedPhoto(event: event, file: file, path: stored.path, bytes: stored.bytes, rev: stored.rev)
    }

    private static func written(_ file: String) -> any Error {
        Failure(.tryAgain, "'\(Failure.line(file))' changed while it was being sent; try again later")
    }
}

/// The outcome for one photo of an upload.
struct UploadedPhoto: Encodable, Sendable {
    /// How a photo came to be on the server.
    enum Event: String, Encodable, Sendable {
        /// Sent and stored under its own name.
        case uploaded
        /// Stored under a numbered name, since another photo has its own.
        case renamed
        /// The folder already had the same bytes, under the reported name.
        case present
    }

    var event: Event
    /// The local file.
    var file: String
    /// Where the photo is on the server.
    var path: RemotePath
    /// The length of the stored photo.
    var bytes: Int64
    /// The version of the stored photo.
    var rev: Revision?
    /// The time of the report, as RFC 3339 in UTC.
    var time: String?
}

/// One photo that was not uploaded.
struct FailedPhoto: Encodable, Sendable {
    var event = "failed"
    var file: String
    var message: String
    var code: Int32
    /// As RFC 3339 in UTC.
    var time: String
}

/// The last line of an upload in JSON.
struct UploadSummary: Encodable, Sendable {
    var event = "summary"
    /// How many were sent.
    var uploaded: Int
    /// Photos that were already stored.
    var present: Int
    /// How many were tried in vain.
    var failed: Int
    /// Photos that were not tried, since they would have failed for the last failure's reason.
    var skipped: Int
    /// As RFC 3339 in UTC.
    var time: String
}

/// The files of a folder by length, so that the same bytes are not sent again.
struct KnownPhotos: Sendable {
    private var files: [Int64: [Metadata]] = [:]

    /// Knows none.
    init() {}

    /// Asks the server once.
    init(of folder: RemotePath, _ remote: any Remote) async throws {
        for file in try await FolderListing().entries(of: folder, remote) ?? [] { add(file) }
    }

    /// Adds a file that was just stored.
    mutating func add(_ file: Metadata) {
        if file.contentHash != nil { files[file.bytes, default: []].append(file) }
    }

    /// Copies the files of one length from another copy.
    mutating func take(_ size: Int64, from other: KnownPhotos) { files[size] = other.files[size] }

    /// Whether a file is worth being hashed.
    func hasOne(of size: Int64) -> Bool { files[size] != nil }

    /// A file with these bytes, preferably the one at `path`.
    func one(of size: Int64, _ hash: ContentHash, named path: RemotePath) -> Metadata? {
        let equal = (files[size] ?? []).filter { $0.contentHash == hash }
        return equal.first { $0.path.key == path.key } ?? equal.first
    }
}
