import ByteClubHTTP
import Glibc

/// Follows downloads until none is under way, and tells of each what becomes of it.
struct Follower {
    private let library: Library
    /// The last that was told of each download; those under way decide how long to follow.
    private var downloads: [BackgroundTask.ID: BackgroundStatus] = [:]
    private var unfinished = 0
    private let isTerminal = isatty(STDERR_FILENO) == 1

    init(_ library: Library) { self.library = library }

    /// Follows until the end; first come the ends that nobody was told of.
    mutating func follow(_ session: BackgroundSession) async throws {
        sayOnInterrupt()
        for status in try await session.tasks().compactMap(\.status) where !status.isFinished && status.state != .paused
        {
            downloads[status.id] = status
        }
        var isCaughtUp = false
        for await event in session.events {
            switch event {
            case .caughtUp: isCaughtUp = true
            case .changed(let status):
                if status.state == .paused, downloads[status.id]?.state != .paused {
                    unfinished += 1
                    tell("\(status.request.options.label) is paused")
                } else if status.state != .paused, downloads[status.id]?.state == .paused {
                    unfinished -= 1
                }
                downloads[status.id] = status
            case .finished(let status):
                downloads[status.id] = status
                try finish(status)
            }
            showProgress()
            if isCaughtUp && !isUnderWay { break }
        }
        clearProgress()
    }

    /// Throws a ``Failure`` unless all was downloaded.
    func check() throws {
        try checkDaemon()
        if unfinished > 0 { throw Failure(.partlyDone, "\(unfinished) of \(downloads.count) were not downloaded") }
    }

    /// Throws a ``Failure`` unless the downloads were followed to their end.
    func checkDaemon() throws {
        if isUnderWay { throw Failure(.unavailable, "the daemon is gone; 'singlecast download' goes on with it") }
    }

    /// Whether nothing was under way, and nothing had ended that nobody was told of.
    var sawNothing: Bool { downloads.isEmpty }

    private var isUnderWay: Bool { downloads.values.contains { $0.state == .waiting || $0.state == .running } }

    /// Notes an end, of which the daemon knows nothing after this.
    private mutating func finish(_ status: BackgroundStatus) throws {
        clearProgress()
        if status.state == .done, let file = status.result?.file { return show(file) }
        unfinished += 1
        let reason = (status.failure?.message ?? "the download failed").printable
        tell("\(status.request.options.label): \(reason)")
        try library.change { podcast in
            for index in podcast.episodes.indices where podcast.episodes[index].file == status.file {
                podcast.episodes[index].failure = reason
            }
        }
    }

    /// One line that is written over and over, where somebody sees it.
    private func showProgress() {
        clearProgress()
        guard isTerminal, isUnderWay else { return }
        let all = downloads.values.filter { $0.state != .failed }
        let total = all.contains { $0.total == nil } ? nil : all.reduce(0.0) { $0 + Double($1.total ?? 0) }
        let bytes = all.reduce(0.0) { $0 + Double($1.bytes) }
        let rate = all.reduce(0.0) { $0 + ($1.state == .running ? $1.bytesPerSecond : 0) }
        let reason = all.first { $0.state == .waiting && $0.failure != nil }?.failure?.message
        let line =
            "\(all.count { $0.state == .done }) of \(downloads.count) done, \(progress(bytes, of: total)), \(size(rate))/s"
            + (reason.map { "; waiting: \($0.printable)" } ?? "")
        writeToErrors(String(line.prefix(79)))
    }

    private func clearProgress() { if isTerminal { writeToErrors("\r\u{1B}[K") } }
}

/// Has Ctrl-C end this program alone: the daemon has no terminal.
private func sayOnInterrupt() {
    signal(SIGINT) { _ in
        let line: StaticString = "\nthe downloads go on in the background: 'singlecast download' follows them again\n"
        unsafe write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
        _exit(130)
    }
}
