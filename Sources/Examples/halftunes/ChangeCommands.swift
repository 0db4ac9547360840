import ArgumentParser
import ByteClubHTTP
import ExampleSupport

/// Pauses downloads.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Holds downloads; what came is kept.")

    @OptionGroup var chosen: ChosenDownloads

    func run() async throws { try await chosen.change(.pause, of: [.waiting, .running, .paused]) }
}

/// Resumes downloads.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Lets downloads go on that are held or have failed.")

    @OptionGroup var chosen: ChosenDownloads

    func run() async throws { try await chosen.change(.resume, of: [.waiting, .running, .paused, .failed]) }
}

/// Cancels downloads.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Gives downloads up; what came is dropped.",
        discussion: "Also a download in the foreground that was stopped or killed, by its track's number.")

    @OptionGroup var chosen: ChosenDownloads

    func run() async throws { try await chosen.change(.cancel, of: [.waiting, .running, .paused]) }
}

/// The downloads that a command names.
struct ChosenDownloads: ParsableArguments {
    @Argument(help: "A download's ID, or the beginning of one, or the track's number.") var id: [String]

    private enum Download {
        case background(BackgroundDownload)
        case foreground(ForegroundRecord)
    }

    /// Changes the downloads, all or none.
    ///
    /// - Parameters:
    ///   - change: The change; downloads in the foreground can only be cancelled.
    ///   - states: The states in which it is possible in the background.
    /// - Throws: ``Failure``, for example if an ID matches no download, or several.
    func change(_ change: BackgroundChange, of states: Set<BackgroundStatus.State>) async throws {
        let all = try await BackgroundDownloads.all()
        let records = try ForegroundRecord.all()
        var found: [BackgroundDownload] = []
        var stopped: [StoppedDownload] = []
        for word in id {
            switch try Self.find(word, in: all, of: states, records) {
            case .background(let download):
                if !found.contains(where: { $0.status.id == download.status.id }) { found.append(download) }
            case .foreground(let record):
                guard !stopped.contains(where: { $0.track.trackId == record.track.trackId }) else { continue }
                stopped.append(try Self.stopped(record, change))
            }
        }
        if !found.isEmpty {
            let downloads = try await BackgroundDownloads.open()
            switch change {
            case .resume: try await downloads.resume(found)
            default: try await downloads.change(found, change)
            }
        }
        for download in stopped { try download.cancel() }
    }

    private static func find(
        _ word: String, in all: [BackgroundDownload], of states: Set<BackgroundStatus.State>,
        _ records: [ForegroundRecord]
    ) throws -> Download {
        var named = all.filter { "\($0.trackID)" == word }
        let record = records.first { "\($0.track.trackId)" == word }
        if named.isEmpty, record?.isThere ?? true {
            named = all.filter { !word.isEmpty && $0.status.id.description.hasPrefix(word.lowercased()) }
        }
        let fit = named.filter { states.contains($0.status.state) }
        if fit.count > 1 {
            let ids = fit.map { $0.status.id.description }.joined(separator: ", ")
            throw Failure(.usage, "'\(word.printable)' names several downloads: \(ids)")
        }
        if let download = fit.first { return .background(download) }
        if let record, !record.isThere { return .foreground(record) }
        if let ended = named.last {
            throw Failure(.notFound, "'\(ended.name.printable)' is \(ended.status.state.rawValue) already")
        }
        if let record { throw Failure(.notFound, "'\(record.track.title)' is done already") }
        throw Failure(.notFound, "there is no download '\(word.printable)'; 'halftunes downloads' lists them")
    }

    /// A download in the foreground to cancel.
    private static func stopped(_ record: ForegroundRecord, _ change: BackgroundChange) throws -> StoppedDownload {
        let title = record.track.title
        guard change == .cancel else {
            throw Failure(
                .notFound, "'\(title)' is in the foreground: Ctrl-C stops it, 'halftunes download' goes on with it")
        }
        guard let stopped = try StoppedDownload(record.track) else {
            throw Failure(.partlyDone, "'\(title)' is running in the foreground: stop it with Ctrl-C first")
        }
        // Its program may have completed it since it was listed.
        if record.isThere { throw Failure(.notFound, "'\(title)' is done already") }
        return stopped
    }
}
