import ByteClubHTTP
import ExampleSupport
import Glibc

/// Follows the downloads until none is running, and reports the end of each.
struct Follower {
    private let library: Library
    /// The latest status of each download; the running ones decide how long to follow.
    private var downloads: [BackgroundTask.ID: BackgroundStatus] = [:]
    private var unfinished = 0
    private let isTerminal = isatty(STDERR_FILENO) == 1

    init(_ library: Library) { self.library = library }

    /// Attaches to the background session and follows it to the end, beginning with the ends that no program has seen.
    mutating func follow() async throws {
        // Ctrl-C ends only this program: the daemon has no terminal.
        signal(SIGINT) { _ in
            let line: StaticString =
                "\nthe downloads go on in the background: 'singlecast download' follows them again\n"
            unsafe write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
            _exit(130)
        }
        let session = try await attach()
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
        // This confirms the last event as well.
        await session.invalidate()
    }

    /// Throws a ``Failure`` unless all downloads succeeded.
    func check() throws {
        try checkDaemon()
        if unfinished > 0 { throw Failure(.partlyDone, "\(unfinished) of \(downloads.count) were not downloaded") }
    }

    /// Throws a ``Failure`` unless the downloads were followed to their end.
    func checkDaemon() throws {
        if isUnderWay { throw Failure(.unavailable, "the daemon is gone; 'singlecast download' goes on with it") }
    }

    /// Whether no download was running, and no end was still to be seen.
    var sawNothing: Bool { downloads.isEmpty }

    private var isUnderWay: Bool { downloads.values.contains { $0.state == .waiting || $0.state == .running } }

    /// Attaches to the session; while another program has it, each attempt waits for half a second.
    private func attach() async throws -> BackgroundSession {
        var isWaiting = false
        while true {
            do {
                return try await BackgroundSession(
                    configuration: .background(BackgroundControl.identifier, service: library.service))
            } catch {
                guard error.code == .identifierInUse else { throw error }
                if !isWaiting { tell("another program follows the downloads; this one waits for it") }
                isWaiting = true
            }
        }
    }

    /// Reports an end, and saves a failure: the daemon forgets the download after this.
    private mutating func finish(_ status: BackgroundStatus) throws {
        clearProgress()
        if status.state == .done, let file = status.result?.file { return show(file) }
        unfinished += 1
        let reason = (status.failure?.message ?? "the download failed").inOneLine
        tell("\(status.request.options.label): \(reason)")
        try library.change { podcast in
            for index in podcast.episodes.indices where podcast.episodes[index].file == status.file {
                podcast.episodes[index].failure = reason
            }
        }
    }

    /// Shows the progress of all downloads in one line of a terminal.
    private func showProgress() {
        clearProgress()
        guard isTerminal, isUnderWay else { return }
        let all = downloads.values.filter { $0.state != .failed }
        let bytes = all.reduce(0) { $0 + $1.bytes }
        let rate = all.reduce(0) { $0 + ($1.state == .running ? $1.bytesPerSecond : 0) }
        let done = all.count { $0.state == .done }
        writeToErrors("\(done) of \(downloads.count) done, \(size(bytes)), \(size(Int64(rate)))/s")
    }

    private func clearProgress() { if isTerminal { writeToErrors("\r\u{1B}[K") } }
}
