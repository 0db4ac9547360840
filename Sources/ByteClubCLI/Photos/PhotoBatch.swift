import ByteClubCore
import Glibc

/// Uploads photos, and reports the outcome of each in the order of the files.
struct PhotoBatch: Sendable {
    let context: Context
    let remote: any Remote
    let server: ServerAddress
    /// The target of photos without folders.
    let folder: RemotePath
    let change: PhotoChange
    let json: Bool
    /// The number of small photos to send concurrently.
    let width: Int
    let reporter: ProgressReporter
    let windDown: WindDown

    /// Uploads photos; a failure does not stop the others unless they would all fail.
    func upload(_ photos: [ChosenPhoto]) async throws -> BatchOutcome<UploadedPhoto> {
        var outcome = BatchOutcome<UploadedPhoto>()
        UploadRecord.removeExpired(context)
        let sizes = photos.map { try? LocalFile.size($0.file) }
        reporter.plan(
            photos.count, total: !change.isNone || sizes.contains(nil) ? nil : sizes.reduce(0) { $0 + ($1 ?? 0) })
        var early = EarlyUploads(photos, sizes: sizes, width: change.isNone ? width : 1) { [self] chosen, turn in
            var known: KnownPhotos? = KnownPhotos()
            let (photo, uploaded) = try await upload(chosen.file, sender(for: chosen), &known, turn)
            return .init(photo: photo, uploaded: uploaded, known: known)
        }
        let end: (failure: Failure, file: String)?
        do {
            end = try await upload(photos, &early, &outcome)
        } catch {
            try? await finish(&early, &outcome)
            throw error
        }
        try await finish(&early, &outcome)
        if let end {
            let rest = photos.count - outcome.done.count - outcome.failures.count
            outcome.end(end.failure, rest: rest, "photo", not: "uploaded")
            reporter.leave(outcome.skipped)
            try report(outcome.failures.last ?? end.failure, end.file, isOfAll: rest > 1)
        }
        return outcome
    }

    /// Uploads the photos in order; returns the failure that ended the batch, with its file.
    private func upload(
        _ photos: [ChosenPhoto], _ early: inout EarlyUploads, _ outcome: inout BatchOutcome<UploadedPhoto>
    ) async throws -> (failure: Failure, file: String)? {
        var known: [PathKey: KnownPhotos] = [:]
        for (index, chosen) in photos.enumerated() {
            // Uploads that have begun may finish.
            if windDown.isRequested, !early.transfers.hasBegun(index) { throw CancellationError() }
            if !windDown.isRequested {
                await early.begin(from: index, to: folder, &known) { try await KnownPhotos(of: $0, remote) }
            }
            let start = context.uptime()
            do {
                let place = photos.count > 1 ? (index + 1, photos.count) : nil
                let sender = try sender(for: chosen)
                let photo: UploadedPhoto
                if let begun = early.transfers.take(index) {
                    photo = try await result(of: begun, sender.path(of: chosen.file), place, &known[sender.folder.key])
                } else {
                    photo = try await upload(chosen.file, sender, place, &known[sender.folder.key])
                }
                if photo.event == .present {
                    reporter.skip(bytes: photo.bytes)
                } else {
                    early.transfers.pace.take(photo.bytes, in: (context.uptime() - start) / .seconds(1))
                    reporter.finish()
                }
                outcome.done.append(photo)
                try report(photo)
            } catch {
                if error is Output.BrokenPipe { throw error }
                reporter.fail()
                try Task.checkCancellation()
                let failure = Failure(error)
                if failure.endsBatch { return (failure, chosen.file) }
                outcome.failures.append(failure)
                try report(failure, chosen.file)
            }
        }
        return nil
    }

    /// Reports uploads that finished early, after the batch has ended.
    private func finish(_ early: inout EarlyUploads, _ outcome: inout BatchOutcome<UploadedPhoto>) async throws {
        for sent in await early.transfers.cancel() {
            sent.photo.tell(context)
            outcome.done.append(sent.uploaded)
            try report(sent.uploaded)
        }
    }

    /// Waits for an upload that started early.
    private func result(
        of early: EarlyTransfers<EarlyUploads.Sent>.Transfer, _ path: RemotePath, _ place: (number: Int, of: Int)?,
        _ known: inout KnownPhotos?
    ) async throws -> UploadedPhoto {
        early.turn.come(to: reporter, path, place, total: early.size)
        let sent = try await early.value()
        sent.photo.tell(context)
        if let found = sent.known { known?.take(early.size, from: found) }
        return sent.uploaded
    }

    private func upload(
        _ file: String, _ sender: PhotoSender, _ place: (number: Int, of: Int)?, _ known: inout KnownPhotos?
    ) async throws -> UploadedPhoto {
        _ = try sender.path(of: file)
        return try await repeating(file, &known) { photo, known in
            photo.tell(context)
            return try await upload(photo, sender, place, &known)
        }.uploaded
    }

    /// Uploads a small photo early.
    private func upload(
        _ file: String, _ sender: PhotoSender, _ known: inout KnownPhotos?, _ turn: TransferTurn
    ) async throws -> (photo: FinishedPhoto, uploaded: UploadedPhoto) {
        let record = try UploadRecord(of: file, to: sender.folder, on: server, context)
        return try await repeating(file, &known) { photo, known in
            let sent = try await sender.send(file, photo.state, file, &known) { size in
                let resumption = resuming(size, record)
                turn.begin(from: resumption.position?.offset ?? 0)
                return resumption
            } progress: {
                turn.report($0)
            }
            if sent.event == .present { record.remove() }
            return sent
        }
    }

    /// Resumes an upload of a size from its record, and updates the record.
    private func resuming(_ size: Int64, _ record: UploadRecord) -> UploadResumption {
        UploadResumption(from: record.position) { [windDown] position in
            record.keep(position)
            // A completely sent photo may still be published.
            if let position, position.offset < size { windDown.reached() }
        }
    }

    /// Uploads a photo, again if the file changes during the upload.
    private func repeating(
        _ file: String, _ known: inout KnownPhotos?,
        _ upload: (FinishedPhoto, inout KnownPhotos?) async throws -> UploadedPhoto
    ) async throws -> (photo: FinishedPhoto, uploaded: UploadedPhoto) {
        var attempts = 3
        while true {
            let photo = try await FinishedPhoto(file, context)
            attempts -= 1
            do { return (photo, try await upload(photo, &known)) } catch {
                guard attempts > 0, photo.state.isWrittenTo(at: file) else { throw error }
            }
        }
    }

    private func upload(
        _ photo: FinishedPhoto, _ sender: PhotoSender, _ place: (number: Int, of: Int)?, _ known: inout KnownPhotos?
    ) async throws -> UploadedPhoto {
        guard !change.isNone else {
            let record = try UploadRecord(of: photo.file, to: sender.folder, on: server, context)
            return try await send(photo, photo.file, sender, place, &known, record)
        }
        let temporary = try PhotoFile.temporary(in: context.directories.state)
        defer { unsafe unlink(temporary) }
        try await change.apply(to: photo.file, writing: temporary)
        return try await send(photo, temporary, sender, place, &known)
    }

    private func sender(for photo: ChosenPhoto) throws -> PhotoSender {
        PhotoSender(remote: remote, folder: try photo.folder(in: folder))
    }

    /// Sends the bytes of `content`, and resumes from the record.
    private func send(
        _ photo: FinishedPhoto, _ content: String, _ sender: PhotoSender, _ place: (number: Int, of: Int)?,
        _ known: inout KnownPhotos?, _ record: UploadRecord? = nil
    ) async throws -> UploadedPhoto {
        let (reporter, path) = (reporter, try sender.path(of: photo.file))
        let sent = try await sender.send(photo.file, photo.state, content, &known) { size in
            let resumption = record.map { resuming(size, $0) }
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
            photo.time = context.timestamp
            return try context.output.write(JSON.line(photo))
        }
        switch photo.event {
        case .uploaded: break
        case .present:
            let name = LocalFile.name(of: photo.file)
            let own = try? photo.path.parent?.appending(PhotoFile.serverName(of: photo.file))
            let isNamed = own?.key == photo.path.key
            context.note("'\(name)' already exists" + (isNamed ? "" : " as '\(photo.path.name)'"))
        case .renamed: context.note("the name of '\(photo.file)' is taken; stored as '\(photo.path.name)'")
        }
        try context.output.line(photo.path.string)
    }

    private func report(_ failure: Failure, _ file: String, isOfAll: Bool = false) throws {
        let isNamed = isOfAll || failure.message.contains(file)
        let message = isNamed ? failure.message : "'\(file)' was not uploaded: \(failure.message)"
        context.note(message)
        if json {
            try context.output.write(
                JSON.line(
                    FailedPhoto(
                        file: file, message: Failure.line(message), code: failure.status.rawValue,
                        time: context.timestamp)))
        }
    }
}

/// A local photo that no program writes to any more.
struct FinishedPhoto {
    private static let pause = Duration.milliseconds(250)
    /// Seconds that an incomplete picture must be unchanged: programs may write in steps.
    private static let quiet: Int64 = 3

    let file: String
    /// Its state when it was checked.
    let state: FileState
    /// Whether the picture is complete.
    let hasEnd: Bool

    /// Waits until no program writes to a photo, and checks that it is a JPEG.
    ///
    /// - Throws: A ``Failure`` 75 when the file still changes after ``Context/writerPatience``, 65 when it is not a
    ///   JPEG; a ``FileFailure``.
    init(_ file: String, _ context: Context) async throws {
        var patience = context.writerPatience
        while true {
            let state = try FileState(of: file)
            if !LocalFile.isBeingWritten(file) {
                let hasEnd = try await PhotoFile.check(file)
                let isFresh = (0..<Self.quiet).contains(context.now() - state.seconds)
                if hasEnd || !isFresh, try FileState(of: file) == state {
                    (self.file, self.state, self.hasEnd) = (file, state, hasEnd)
                    return
                }
            }
            guard patience > .zero else {
                throw Failure(.tryAgain, "'\(file)' is still being written by another program; try again later")
            }
            patience -= Self.pause
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Warns about an incomplete picture.
    func tell(_ context: Context) {
        if hasEnd { return }
        context.note("'\(file)' seems to be truncated; it is sent unchanged")
    }
}
