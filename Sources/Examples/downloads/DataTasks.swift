import ByteClubHTTP
import DownloadBoard
import ExampleSupport
import FoundationEssentials
import HTTPTypes

/// Data tasks, whose bodies this program reads piece by piece, holds in memory, and writes when they are complete.
actor DataTasks: SessionEngine {
    nonisolated let downloads: [Board.Download]
    var runs: [Int: Run] = [:]
    private let targets: [Target]
    private let session: Session
    nonisolated let news: AsyncStream<Board.Event>

    /// The largest body that is held in memory.
    private static let mostBytes: Int64 = 64 << 20

    init(_ targets: [Target], isEphemeral: Bool) throws {
        self.targets = targets
        downloads = targets.map { Board.Download(url: $0.url, name: $0.name, file: $0.file, isInPieces: true) }
        (session, news) = try Session.ofDownloads(targets, isEphemeral: isEphemeral)
    }

    func begin(_ place: Int, _ desk: Desk) async {
        if let length = targets[place].length {
            await desk.handle(.progress(place, bytes: length, total: length, bytesPerSecond: 0))
            return await desk.handle(.became(place, .done))
        }
        await desk.handle(.became(place, .waiting))
        runs[place] = Run(following: Task { await read(place, desk) })
    }

    /// Cancelling the Swift task that reads cancels the transfer.
    func cancel(_ run: Run) { run.following.cancel() }

    func leave(_ desk: Desk) async {
        for run in runs.values { cancel(run) }
        for run in runs.values { await run.following.value }
        await session.invalidateAndCancel()
    }

    /// Reads a body to its end, and reports each piece.
    private func read(_ place: Int, _ desk: Desk) async {
        let end: (state: Board.State, failure: Failure?)
        do {
            try targets[place].write(try await body(place, desk))
            end = (.done, nil)
        } catch let error as TransferError {
            if error.code == .cancelled { end = (.cancelled, nil) } else { end = (.failed, Failure(error)) }
        } catch {
            end = (.failed, error as? Failure)
        }
        runs[place] = nil
        await desk.handle(.became(place, end.state, end.failure))
    }

    private func body(_ place: Int, _ desk: Desk) async throws -> [UInt8] {
        var options = TaskOptions()
        let most = Self.mostBytes
        options.maximumBodyBytes = { _ in most }
        let (pieces, response) = try await session.bytes(for: targets[place].request, options: options)
        let total = response.headerFields[.contentLength].flatMap { Int64($0) }
        runs[place]?.task = pieces.task
        // Paused while the server was silent.
        if runs[place]?.isPaused == true { pieces.task.suspend() }
        var body: [UInt8] = []
        for try await piece in pieces {
            body += piece
            let rate = pieces.task.progress.bytesPerSecond
            await desk.handle(.piece(place, bytes: piece.count, total: total, bytesPerSecond: rate))
        }
        return body
    }
}

extension Target {
    /// Writes the file in one atomic step.
    fileprivate func write(_ body: [UInt8]) throws(Failure) {
        do { try Data(body).write(to: URL(filePath: file), options: .atomic) } catch {
            throw Failure(.cannotWrite, "'\(file)' cannot be written")
        }
    }
}
