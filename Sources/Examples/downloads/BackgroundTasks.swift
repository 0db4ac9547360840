import ByteClubHTTP
import DownloadBoard
import ExampleSupport
import HTTPTypes

/// Downloads of a background session: a daemon performs them, whether or not this program runs.
actor BackgroundTasks: Engine {
    /// The session's identifier, by which the next program finds the downloads again.
    static let identifier = "downloads"

    nonisolated let downloads: [Board.Download]
    private let targets: [Target]
    private let session: BackgroundSession
    /// The tasks by their places on the board; nil for a file that exists already.
    private let tasks: [BackgroundTask?]
    private let places: [BackgroundTask.ID: Int]
    private var following: Task<Void, Never>?
    /// How far the statuses go that the start makes outdated, by their sequence.
    private var outdated: [Int: UInt64] = [:]
    /// Whether the daemon has ended.
    private var isGone = false

    /// The daemon is this program as well; see ``Downloads/run()``.
    static func service() throws -> BackgroundService { try .ofThisProgram("downloads") }

    /// Attaches to the session with its earlier downloads.
    init(_ targets: [Target]) async throws {
        let service = try Self.service()
        if targets.isEmpty, !service.hasTasks {
            throw Failure(.usage, "nothing is under way in the background: name a URL to download")
        }
        let session: BackgroundSession
        do {
            session = try await BackgroundSession(configuration: .background(Self.identifier, service: service))
        } catch {
            guard error.code == .identifierInUse else { throw error }
            throw Failure(.partlyDone, "another 'downloads' follows the downloads in the background; leave it first")
        }
        var known = try await session.tasks()
        var (tasks, downloads) = ([BackgroundTask?](), [Board.Download]())
        for target in targets {
            var earlier = known.last { $0.file == target.file }
            known.removeAll { $0.file == target.file }
            if let task = earlier, task.status?.isFinished == false, !target.isSame(as: task) {
                throw Failure(.usage, "'\(target.name)' is being downloaded from another URL; cancel that first")
            }
            // Downloaded once, and removed since.
            if earlier?.status?.state == .done, !target.isThere { earlier = nil }
            let task = earlier ?? (target.isThere ? nil : session.downloadTask(target.request, to: target.file))
            tasks.append(task)
            downloads.append(
                Board.Download(
                    url: target.url, name: target.name, file: target.file, id: task?.id.description,
                    isMet: earlier != nil))
        }
        for task in known {
            guard let file = task.file, case .download(let request, _) = task.request.work else { continue }
            let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
            let name = file.split(separator: "/").last.map(String.init) ?? file
            tasks.append(task)
            downloads.append(
                Board.Download(
                    url: url, name: name.printable, file: file, id: task.id.description, isMet: true))
        }
        (self.session, self.targets, self.tasks, self.downloads) = (session, targets, tasks, downloads)
        places = Dictionary(
            tasks.enumerated().compactMap { place, task in task.map { ($0.id, place) } }, uniquingKeysWith: { $1 })
    }

    func start(_ desk: Desk) async {
        for place in targets.indices { outdated[place] = tasks[place]?.status?.sequence }
        following = Task { await follow(desk) }
        for (place, target) in targets.enumerated() {
            guard let task = tasks[place] else {
                let length = target.length ?? 0
                await desk.handle(.progress(place, bytes: length, total: length, bytesPerSecond: 0))
                await desk.handle(.became(place, .done))
                continue
            }
            // A finished task still reports its end as an event, which acknowledges it, though its file exists.
            if task.status?.state == .done { continue }
            // Records a new task, and continues one that is paused or has failed.
            await change(place, .resume, desk)
        }
    }

    func perform(_ command: Board.Command, _ desk: Desk) async {
        switch command {
        case .pause(let place): await change(place, .pause, desk)
        case .resume(let place): await change(place, .resume, desk)
        case .cancel(let place): await change(place, .cancel, desk)
        case .leave: break
        }
    }

    func leave(_ desk: Desk) async {
        following?.cancel()
        await following?.value
        // Events that were not read yet are missing; a daemon that is gone has no newer status.
        if !isGone { for status in tasks.compactMap({ $0?.status }) { await report(status, desk) } }
        // This confirms the end that came last.
        await session.invalidate()
    }

    /// Changes a task; when this returns, the change is on the daemon's disk, and its event follows.
    private func change(_ place: Int, _ change: BackgroundChange, _ desk: Desk) async {
        guard tasks.indices.contains(place), let task = tasks[place] else { return }
        do {
            switch change {
            case .pause: try await task.pause()
            case .cancel: try await task.cancel()
            default: try await task.resume()
            }
        } catch {
            await desk.handle(.became(place, .failed, Failure(error)))
        }
    }

    /// Reports the changes of all tasks; reading the next event acknowledges an end.
    private func follow(_ desk: Desk) async {
        for await event in session.events {
            switch event {
            case .changed(let status), .finished(let status): await report(status, desk)
            case .caughtUp: break
            }
        }
        if Task.isCancelled { return }
        isGone = true
        let failure = Failure(.unavailable, "the daemon is gone; the same command starts it again")
        for place in downloads.indices { await desk.handle(.became(place, .failed, failure)) }
    }

    private func report(_ status: BackgroundStatus, _ desk: Desk) async {
        guard let place = places[status.id] else { return }
        // The start resumes one that was paused or has failed, so without keys the program must not end.
        if status.state == .paused || status.state == .failed, let old = outdated[place], status.sequence <= old {
            return
        }
        if status.state == .running { await desk.handle(.became(place, .running)) }
        await desk.handle(
            .progress(place, bytes: status.bytes, total: status.total, bytesPerSecond: status.bytesPerSecond))
        switch status.state {
        case .waiting: await desk.handle(.became(place, .waiting))
        case .running: break
        case .paused: await desk.handle(.became(place, .paused))
        case .done: await desk.handle(.became(place, .done))
        case .failed where status.failure?.code == TransferError.Code.cancelled.rawValue:
            await desk.handle(.became(place, .cancelled))
        case .failed: await desk.handle(.became(place, .failed, status.failure.map { Failure($0) }))
        }
    }
}

extension BackgroundTask {
    /// The path that the download writes to.
    fileprivate var file: String? { if case .download(_, let path) = request.work { path } else { nil } }
}

extension Target {
    /// Whether a task downloads the same URL.
    fileprivate func isSame(as task: BackgroundTask) -> Bool {
        guard case .download(let other, _) = task.request.work else { return false }
        return isSame(as: other)
    }
}

extension Failure {
    fileprivate init(_ failure: BackgroundFailure) {
        let code = TransferError.Code(rawValue: failure.code) ?? .other
        let isUnknown = failure.status == 404
        self.init(
            isUnknown ? .notFound : Code(TransferError(code, failure.message)), failure.message.printable)
    }
}
