import ByteClubCore
import Glibc

/// Downloads photos.
struct PhotoDownload: Sendable {
    let remote: any Remote
    let reporter: ProgressReporter
    let windDown: WindDown

    /// Writes photos into a folder, one after another; a failed one does not stop the others, unless it shows that they
    /// would all fail.
    func run(
        _ photos: [Result<RemotePath, Failure>], into folder: String, isForced: Bool,
        report: (RemotePath, WrittenFile) throws -> Void
    ) async throws -> BatchOutcome<WrittenFile> {
        var outcome = BatchOutcome<WrittenFile>()
        var names: Set<String> = []
        reporter.plan(photos.count)
        for (index, photo) in photos.enumerated() {
            try windDown.check()
            do {
                let path = try photo.get()
                // What this call has written is not what is to be replaced.
                let isFirst = names.insert(path.name).inserted
                let file = try OutputFile(folder + path.name, isForced: isForced && isFirst)
                let written = try await run(path, to: file, place: (index + 1, photos.count))
                reporter.finish()
                outcome.done.append(written)
                try report(path, written)
            } catch {
                reporter.fail()
                if error is Output.BrokenPipe { throw error }
                try Task.checkCancellation()
                let failure = Failure(error)
                if [.notAuthorised, .unavailable, .configuration].contains(failure.status) { throw failure }
                outcome.failures.append(failure)
            }
        }
        return outcome
    }

    /// Writes the photo to a file.
    func run(
        _ path: RemotePath, to file: OutputFile, place: (number: Int, of: Int)? = nil
    ) async throws -> WrittenFile {
        let room = try file.room()
        reporter.start(path.name, path: path.string, place: place, total: nil)
        let metadata = try await file.write { temporary in
            let metadata = try await Self.fetch(path, room, from: remote, to: temporary) { reporter.update($0) }
            try LocalFile.complete(temporary, as: metadata)
            return metadata
        }
        return WrittenFile(file: file.path, bytes: metadata.bytes, source: metadata.path.string)
    }

    /// Writes the photo to standard output, once all of it is here and its hash is the server's.
    func run(_ path: RemotePath, toOutputOf context: Context) async throws {
        let directory = context.directories.state + "/downloads"
        try LocalFile.makePrivateDirectory(directory)
        let temporary = LocalFile.temporaryName(beside: directory + "/photo.jpg")
        defer { unsafe unlink(temporary) }
        reporter.start(path.name, path: path.string, total: nil)
        let room = try LocalFile.room(beside: temporary)
        _ = try await Self.fetch(path, room, from: remote, to: temporary) { reporter.update($0) }
        reporter.finish()
        try LocalFile.copy(temporary, to: context.output)
    }

    /// Writes the bytes of a photo to a new file.
    static func fetch(
        _ path: RemotePath, _ room: Int64, from remote: any Remote, to file: String,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> Metadata {
        do {
            return try await remote.download(path, revision: nil, limit: room, to: file, progress: progress)
        } catch { throw told(error, of: path, room) }
    }

    /// What a person is told of a failure.
    static func told(_ error: RemoteError, of path: RemotePath, _ room: Int64) -> any Error {
        switch error.code {
        case .tooLarge:
            Failure(.inputOutput, "there is no room for '\(path)': \(HumanSize.shown(room)) are left on the disk")
        case .notFound: EntryPath.missing("photo", path.name)
        default: error
        }
    }
}
