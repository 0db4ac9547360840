import ByteClubCore

/// Stores photos in a folder of the server, unless it has their bytes.
struct PhotoSender: Sendable {
    let remote: any Remote
    let folder: RemotePath

    /// Where a file's photo goes.
    func path(of file: String) throws -> RemotePath {
        do { return try folder.appending(PhotoFile.serverName(of: file)) } catch {
            throw PhotoFile.refusal(of: file, error)
        }
    }

    /// Sends the bytes of `content`, unless the folder has them, under whatever name.
    ///
    /// - Parameters:
    ///   - file: The file that a person named, of which the photo has name and date.
    ///   - state: The state of that file which is to be sent.
    ///   - content: The file with the bytes.
    ///   - known: What the folder has; asked for when it is nil, and kept up to date.
    ///   - begin: Is told the length when something is to be sent, and says where to go on.
    ///   - progress: Is told how far it is.
    /// - Returns: What became of it.
    /// - Throws: What the server or the disk has against it; a ``Failure`` 75, and nothing is stored, when somebody wrote
    ///   to the file meanwhile.
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
            // A part of a photo, which nobody is to see.
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
