import ByteClubHTTP
import DownloadBoard

/// Downloads by a session of this program, default or ephemeral, in which each place has one run at a time.
protocol SessionEngine: Engine, Actor {
    /// The downloads that are under way or paused, by their places on the board.
    var runs: [Int: Run] { get set }

    /// What the session's monitor reports, for one reader.
    nonisolated var news: AsyncStream<Board.Event> { get }

    /// Starts the download of a place that has no run.
    func begin(_ place: Int, _ desk: Desk) async

    /// Cancels a run; its end is reported as every other one.
    func cancel(_ run: Run) async
}

/// A download that has not ended.
struct Run {
    /// Nil until a data task has its response.
    var task: SessionTask?
    var isPaused = false
    /// Reports the progress and the end.
    let following: Task<Void, Never>
}

extension SessionEngine {
    func start(_ desk: Desk) async {
        let news = news
        // It ends with the session.
        Task { for await event in news { await desk.handle(event) } }
        for place in downloads.indices { await begin(place, desk) }
    }

    func perform(_ command: Board.Command, _ desk: Desk) async {
        switch command {
        case .pause(let place):
            guard let run = runs[place], !run.isPaused else { return }
            // A suspended task keeps its connection, but has no traffic.
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
            guard let run = runs[place] else { return }
            await cancel(run)
            await run.following.value
        case .leave: break
        }
    }
}

extension Session {
    /// The session of a ``SessionEngine``, and what its monitor reports of the targets' tasks.
    static func ofDownloads(
        _ targets: [Target], isEphemeral: Bool
    ) throws -> (session: Session, news: AsyncStream<Board.Event>) {
        var configuration: SessionConfiguration = isEphemeral ? .ephemeral : .default
        // A response with another status than 2xx is an error.
        configuration.policy.validation = .successful
        // Without it, a download fails where there is no network.
        configuration.waitsForConnectivity = true
        let (news, given) = AsyncStream.makeStream(of: Board.Event.self)
        configuration.eventMonitors = [ConnectionMonitor(targets: targets, given: given)]
        return (try Session(configuration: configuration, name: "downloads"), news)
    }
}
