import ByteClubHTTP
import DownloadBoard
import ExampleSupport
import FoundationEssentials
import HTTPTypes

/// Data tasks, whose bodies this program reads piece by piece, holds in memory, and writes when they are complete.
actor DataTasks: Engine {
    private struct Run {
        /// Nil before the response's head.
        var task: SessionTask?
        var isPaused = false
        var reading: Task<Void, Never>?
    }

    nonisolated let downloads: [Board.Download]
    private let targets: [Target]
    private let session: Session
    private var runs: [Int: Run] = [:]

    /// The largest body that is held in memory.
    private static let mostBytes: Int64 = 64 << 20

    init(_ targets: [Target], isEphemeral: Bool) throws {
        self.targets = targets
        downloads = targets.map { Board.Download(url: $0.url, name: $0.name, file: $0.file, isInPieces: true) }
        var configuration: SessionConfiguration = isEphemeral ? .ephemeral : .default
        configuration.policy.validation = .successful
        session = try Session(configuration: configuration, name: "downloads")
    }

    func start(_ desk: Desk) async { for place in targets.indices { await begin(place, desk) } }

    func perform(_ command: Board.Command, _ desk: Desk) async {
        switch command {
        case .pause(let place):
            guard let run = runs[place], !run.isPaused else { return }
            run.task?.suspend()
            runs[place]?.isPaused = true
            await desk.handle(.became(place, .paused))
        case .resume(let place):
            guard let run = runs[place] else { return await begin(place, desk) }
            guard run.isPaused else { return }
            runs[place]?.isPaused = false
            await desk.handle(.became(place, .waiting))
            run.task?.resume()
        case .cancel(let place):
            // Cancelling the Swift task that reads cancels the transfer.
            runs[place]?.reading?.cancel()
            await runs[place]?.reading?.value
        case .leave: break
        }
    }

    func leave() async {
        for run in runs.values { run.reading?.cancel() }
        for run in runs.values { await run.reading?.value }
        await session.invalidateAndCancel()
    }

    private func begin(_ place: Int, _ desk: Desk) async {
        if let length = targets[place].length {
            await desk.handle(.progress(place, bytes: length, total: length, bytesPerSecond: 0))
            return await desk.handle(.became(place, .done))
        }
        runs[place] = Run()
        await desk.handle(.became(place, .waiting))
        runs[place]?.reading = Task { await read(place, desk) }
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
    /// Writes the file as a whole.
    fileprivate func write(_ body: [UInt8]) throws(Failure) {
        do { try Data(body).write(to: URL(filePath: file), options: .atomic) } catch {
            throw Failure(.cannotWrite, "'\(file)' cannot be written")
        }
    }
}
