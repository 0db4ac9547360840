import ByteClubCore
import ByteClubHTTP
import Glibc

/// Downloads photos, and resumes downloads of an earlier run of the same command.
struct PhotoDownload: Sendable {
    let context: Context
    let server: ServerAddress
    let remote: any Remote
    let reporter: ProgressReporter
    let windDown: WindDown

    /// A photo that is to come to a file.
    private struct Order: Sendable {
        let path: RemotePath
        /// Its metadata; nil when it was not listed.
        let known: Metadata?
        /// The target folder and the path below it.
        let folder: String
        let place: String
        let isForced: Bool

        var file: String { folder + place }

        /// The target; makes its folders.
        func output() throws -> OutputFile {
            try OutputFile.makeFolders(to: place, in: folder)
            return try OutputFile(file, isForced: isForced)
        }
    }

    /// A photo that has come.
    private struct Arrival: Sendable {
        let path: RemotePath
        let file: WrittenFile
        /// Whether it was complete before.
        var wasThere = false
    }

    /// Downloads photos to a folder, small ones at most `width` at once, and reports them in order; a failure does not
    /// stop the others unless they would all fail.
    ///
    /// Listed photos are placed in folders named like their albums, unless `isFlat`; files with the same bytes are
    /// skipped.
    func run(
        _ photos: [Result<FoundPhoto, Failure>], into folder: String, isFlat: Bool, isForced: Bool, width: Int,
        report: (RemotePath, WrittenFile) throws -> Void
    ) async throws -> BatchOutcome<WrittenFile> {
        var names: Set<String> = []
        let orders = photos.map { photo in
            photo.map { photo in
                // A file that this call has written is not replaced.
                let place = isFlat ? photo.path.name : photo.place
                let isFirst = names.insert(PathKey.fold(place)).inserted
                return Order(
                    path: photo.path, known: photo.known, folder: folder, place: place,
                    isForced: isForced && isFirst)
            }
        }
        var early = EarlyTransfers<Arrival>(width: width)
        let sizes = orders.map { try? $0.get().known?.bytes }
        reporter.plan(photos.count, total: sizes.contains(nil) ? nil : sizes.reduce(0) { $0.adding($1 ?? 0) })
        var outcome = BatchOutcome<WrittenFile>()
        do {
            try await run(orders, &early, &outcome) { try report($0.path, $0.file) }
            return outcome
        } catch {
            // Downloads that finished early are reported.
            for arrival in await early.cancel() {
                reporter.start(arrival.path.name, path: arrival.path.string, total: arrival.file.bytes)
                reporter.finish()
                try? report(arrival.path, arrival.file)
                outcome.done.append(arrival.file)
            }
            guard let failure = error as? Failure, failure.endsBatch else { throw error }
            let rest = orders.count - outcome.done.count - outcome.failures.count
            outcome.end(failure, rest: rest, "photo", not: "downloaded")
            reporter.leave(outcome.skipped)
            return outcome
        }
    }

    private func run(
        _ orders: [Result<Order, Failure>], _ early: inout EarlyTransfers<Arrival>,
        _ outcome: inout BatchOutcome<WrittenFile>, report: (Arrival) throws -> Void
    ) async throws {
        var next = 0
        for (index, order) in orders.enumerated() {
            if !windDown.isRequested { begin(orders, from: index, &next, &early) }
            let begun = early.take(index)
            if begun == nil { try windDown.check() }
            do {
                let arrival = try await arrival(of: order.get(), begun, (index + 1, orders.count))
                if arrival.wasThere {
                    reporter.skip(bytes: arrival.file.bytes)
                    context.note("'\(arrival.file.file)' already exists")
                } else {
                    reporter.finish()
                }
                outcome.done.append(arrival.file)
                try report(arrival)
            } catch {
                if error is Output.BrokenPipe { throw error }
                reporter.fail()
                try Task.checkCancellation()
                let failure = Failure(error)
                if failure.endsBatch { throw failure }
                outcome.failures.append(failure)
            }
        }
    }

    /// Starts downloads that may run early, from the current photo on.
    private func begin(
        _ orders: [Result<Order, Failure>], from index: Int, _ next: inout Int, _ early: inout EarlyTransfers<Arrival>
    ) {
        next = max(next, index)
        while next < orders.count, early.hasRoom {
            if let order = try? orders[next].get() {
                // A second photo of the same name must find the first; some file systems ignore case.
                let key = PathKey.fold(order.file)
                guard let bytes = order.known?.bytes, bytes <= EarlyTransfers<Arrival>.largest,
                    !early.contains(where: { $0.key == key })
                else { return }
                early.begin(next, size: bytes, key: key) { turn in
                    if let there = try await present(order) { return there }
                    let file = try order.output()
                    let written = try await write(order.path, to: file) {
                        turn.begin(from: $0)
                    } progress: {
                        turn.report($0)
                    }
                    return Arrival(path: order.path, file: written)
                }
            }
            next += 1
        }
    }

    /// Downloads the current photo, or waits for its early download.
    private func arrival(
        of order: Order, _ begun: EarlyTransfers<Arrival>.Transfer?, _ place: (number: Int, of: Int)
    ) async throws -> Arrival {
        guard let begun else {
            if let there = try await present(order) { return there }
            let file = try order.output()
            return Arrival(
                path: order.path, file: try await run(order.path, to: file, order.known?.bytes, place: place))
        }
        begun.turn.come(to: reporter, order.path, place, total: order.known?.bytes)
        return try await begun.value()
    }

    /// The existing copy of a photo; nil when it is missing or different, and with `--force`.
    private func present(_ order: Order) async throws -> Arrival? {
        guard !order.isForced, let known = order.known, !LocalFile.isDirectory(order.file),
            try await Self.holds(order.file, known)
        else { return nil }
        let file = WrittenFile(file: order.file, bytes: known.bytes, source: known.path.string)
        return Arrival(path: order.path, file: file, wasThere: true)
    }

    /// Writes the photo to a file, and reports its size in bytes when known.
    func run(
        _ path: RemotePath, to file: OutputFile, _ bytes: Int64? = nil, place: (number: Int, of: Int)? = nil
    ) async throws -> WrittenFile {
        try await write(path, to: file) {
            reporter.start(path.name, path: path.string, place: place, total: bytes, from: $0)
        } progress: {
            reporter.update($0)
        }
    }

    /// Writes the photo to a file; `begin` receives the bytes that are already there.
    private func write(
        _ path: RemotePath, to file: OutputFile, begin: (Int64) -> Void,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> WrittenFile {
        let metadata = try await parting(path, to: file.path) { part, journal in
            begin(Self.received(journal))
            let metadata = try await Self.fetch(
                path, to: part, journal: journal, beside: file, from: remote, progress: progress)
            do {
                try await BlockingWork.run {
                    try LocalFile.complete(part, as: metadata)
                    try file.settle(part)
                }
            } catch {
                unsafe unlink(part)
                throw error
            }
            return metadata
        }
        return WrittenFile(file: file.path, bytes: metadata.bytes, source: metadata.path.string)
    }

    /// Writes the photo to standard output after checking its hash.
    func run(_ path: RemotePath, toOutputOf context: Context) async throws {
        let directory = context.directories.state + "/downloads"
        try LocalFile.makePrivateDirectory(directory)
        let file = try OutputFile(directory + "/photo.jpg", isForced: true)
        try await parting(path, to: file.path) { part, journal in
            reporter.start(path.name, path: path.string, total: nil, from: Self.received(journal))
            _ = try await Self.fetch(path, to: part, journal: journal, beside: file, from: remote) {
                reporter.update($0)
            }
            defer { unsafe unlink(part) }
            reporter.finish()
            try LocalFile.copy(part, to: context.output)
        }
    }

    /// Provides the names of a hidden partial file and its journal: the same in each run, or temporary ones when
    /// another process uses them or no journal can be written.
    private func parting<Value>(
        _ path: RemotePath, to file: String, _ body: (_ part: String, _ journal: String?) async throws -> Value
    ) async throws -> Value {
        let files = try TransferFiles(of: path, to: file, from: server, context)
        guard (try? files.prepare()) != nil, let lock = files.lock() else {
            let part = LocalFile.temporaryName(beside: file)
            defer { unsafe unlink(part) }
            return try await body(part, nil)
        }
        defer { files.unlock(lock) }
        return try await body(files.part(of: file), files.journal)
    }

    /// Downloads all bytes of a photo to a hidden file beside its target; reads its metadata when it is not `known` and
    /// a partial file exists.
    static func fetch(
        _ path: RemotePath, known: Metadata? = nil, to part: String, journal: String?, beside file: OutputFile,
        from remote: any Remote, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> Metadata {
        // A resumed download needs less space.
        let sum = try file.room().addingReportingOverflow(received(journal))
        let room = sum.overflow ? .max : sum.partialValue
        do {
            if LocalFile.exists(part) {
                // A process killed after the last byte leaves a complete file.
                let metadata = if let known { known } else { try await remote.metadata(at: path) }
                if try await holds(part, metadata) { return metadata }
                unsafe unlink(part)
            }
            return try await remote.download(
                path, revision: nil, limit: room, to: part, journal: journal, progress: progress)
        } catch let error as RemoteError {
            if error.code == .notFound, let journal { TransferFiles.discard(journal) }
            throw told(error, of: path, room)
        }
    }

    /// Bytes of an earlier run.
    private static func received(_ journal: String?) -> Int64 {
        journal.flatMap(TransferFiles.earlier)?.bytesReceived ?? 0
    }

    /// Whether a file has a version's bytes.
    static func holds(_ file: String, _ metadata: Metadata) async throws -> Bool {
        guard let hash = metadata.contentHash, LocalFile.exists(file), try LocalFile.size(file) == metadata.bytes else {
            return false
        }
        return try await BlockingWork.run { try LocalFile.hash(file).hash == hash }
    }

    /// The error for people.
    static func told(_ error: RemoteError, of path: RemotePath, _ room: Int64) -> any Error {
        switch error.code {
        case .tooLarge:
            Failure(.inputOutput, "not enough space for '\(path)': \(HumanSize.shown(room)) left on the disk")
        case .notFound: EntryPath.missing("photo", path.name)
        default: error
        }
    }
}
