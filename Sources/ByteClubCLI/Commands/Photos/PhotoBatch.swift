import ByteClubCore
import Glibc

/// Uploads photos one after another.
struct PhotoBatch: Sendable {
    let context: Context
    let remote: any Remote
    let server: ServerAddress
    let folder: RemotePath
    let change: PhotoChange
    let json: Bool
    let reporter: ProgressReporter
    let windDown: WindDown

    /// Uploads the files, and the photos in folders; a failed one does not stop the others, unless it shows that they
    /// would all fail.
    func upload(_ named: [String]) async throws -> BatchOutcome<UploadedPhoto> {
        let files = named.flatMap(PhotoFile.all)
        var outcome = BatchOutcome<UploadedPhoto>()
        var known: KnownPhotos?
        UploadRecord.removeExpired(context)
        let sizes = files.map { try? LocalFile.size($0) }
        reporter.plan(
            files.count, total: !change.isNone || sizes.contains(nil) ? nil : sizes.reduce(0) { $0 + ($1 ?? 0) })
        for (index, file) in files.enumerated() {
            try windDown.check()
            do {
                let photo = try await upload(file, place: files.count > 1 ? (index + 1, files.count) : nil, &known)
                if photo.event == .present { reporter.skip(bytes: photo.bytes) } else { reporter.finish() }
                outcome.done.append(photo)
                try report(photo)
            } catch {
                reporter.fail()
                if error is Output.BrokenPipe { throw error }
                try Task.checkCancellation()
                let failure = Failure(error)
                outcome.failures.append(failure)
                try report(failure, file)
                if [.notAuthorised, .unavailable, .configuration].contains(failure.status) {
                    let rest = files.count - index - 1
                    if rest > 0 { context.note("\(rest) more not tried") }
                    break
                }
            }
        }
        return outcome
    }

    /// Uploads a photo, and does it again while somebody writes to it.
    private func upload(
        _ file: String, place: (number: Int, of: Int)?, _ known: inout KnownPhotos?
    ) async throws -> UploadedPhoto {
        _ = try sender.path(of: file)
        var attempts = 3
        while true {
            let photo = try await FinishedPhoto(file, context)
            photo.tell(context)
            attempts -= 1
            do { return try await upload(photo, place, &known) } catch let error {
                guard attempts > 0, photo.state.isWrittenTo(at: file) else { throw error }
            }
        }
    }

    private func upload(
        _ photo: FinishedPhoto, _ place: (number: Int, of: Int)?, _ known: inout KnownPhotos?
    ) async throws -> UploadedPhoto {
        guard !change.isNone else {
            let record = try UploadRecord(of: photo.file, to: folder, on: server, context)
            return try await send(photo, photo.file, place, &known, record)
        }
        let temporary = try PhotoFile.temporary(in: context.directories.state)
        defer { unsafe unlink(temporary) }
        try await change.apply(to: photo.file, writing: temporary)
        return try await send(photo, temporary, place, &known)
    }

    private var sender: PhotoSender { PhotoSender(remote: remote, folder: folder) }

    /// Sends the bytes of `content`, and goes on where a record says.
    private func send(
        _ photo: FinishedPhoto, _ content: String, _ place: (number: Int, of: Int)?, _ known: inout KnownPhotos?,
        _ record: UploadRecord? = nil
    ) async throws -> UploadedPhoto {
        let (reporter, windDown, path) = (reporter, windDown, try sender.path(of: photo.file))
        let sent = try await sender.send(photo.file, photo.state, content, &known) { size in
            let resumption = record.map { record in
                UploadResumption(from: record.position) { position in
                    record.keep(position)
                    // What has been sent as a whole may still become visible.
                    if let position, position.offset < size { windDown.reached() }
                }
            }
            reporter.start(
                path.name, path: path.string, place: place, total: size, from: resumption?.position?.offset ?? 0)
            return resumption
        } progress: {
            reporter.update($0)
        }
        if sent.event == .present { record?.remove() }
        return sent
    }

    private func report(_ photo: UploadedPhoto) throws {
        if json {
            var photo = photo
            photo.time = CalendarTime.utc(context.now()).rfc3339
            return try context.output.write(JSON.line(photo))
        }
        switch photo.event {
        case .uploaded: break
        case .present:
            let name = LocalFile.name(of: photo.file)
            let isNamed = (try? folder.appending(PhotoFile.serverName(of: photo.file)))?.key == photo.path.key
            context.note("'\(name)' is already there" + (isNamed ? "" : " as '\(photo.path.name)'"))
        case .renamed: context.note("another photo has the name of '\(photo.file)'; stored as '\(photo.path.name)'")
        }
        try context.output.line(photo.path.string)
    }

    private func report(_ failure: Failure, _ file: String) throws {
        let isNamed = failure.message.contains(file)
        let message = isNamed ? failure.message : "'\(file)' was not uploaded: \(failure.message)"
        context.note(message)
        if json {
            try context.output.write(
                JSON.line(
                    FailedPhoto(
                        file: file, message: Failure.line(message), code: failure.status.rawValue,
                        time: CalendarTime.utc(context.now()).rfc3339)))
        }
    }
}
