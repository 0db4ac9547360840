import ArgumentParser
import ByteClubHTTP
import ExampleSupport

/// The downloads in the background, which a daemon performs.
struct BackgroundDownloads {
    private let control: BackgroundControl

    /// Distinguishes these downloads from the daemon's other tasks.
    private static let identifier = "previews"

    /// The daemon's folder and command: this program is the daemon as well, see ``DaemonCommand``.
    static func service() throws -> BackgroundService { try .ofThisProgram("halftunes") }

    /// All downloads; the daemon is only started if it has downloads.
    static func all() async throws -> [BackgroundDownload] {
        guard let control = try await BackgroundControl.looking(at: service()) else { return [] }
        return try await BackgroundDownloads(control: control).all()
    }

    /// Connects to the daemon, starting it if necessary; a new daemon continues its downloads.
    static func open() async throws -> BackgroundDownloads {
        BackgroundDownloads(control: try await BackgroundControl(service()))
    }

    /// All downloads, oldest first; finished ones are listed for 30 days.
    func all() async throws -> [BackgroundDownload] {
        try await control.tasks().filter { $0.identifier == Self.identifier }.compactMap(BackgroundDownload.init)
    }

    /// Starts the downloads that are neither complete nor running, and prints them.
    ///
    /// When it returns, they are stored: they continue whatever happens to this program, the daemon or the machine. A
    /// lock makes a second program see the downloads that the first one started.
    func start(_ previews: [Preview]) async throws {
        let lock = try FileLock(Self.service().folder + ".lock")
        let known = try await all()
        var requests: [BackgroundRequest] = []
        for preview in previews {
            let earlier = known.last { $0.file == preview.file }
            if preview.isThere {
                tell("\(preview.track.title): is there already")
            } else if let earlier, earlier.status.state == .paused || earlier.status.state == .failed {
                try await change([earlier], .resume)
            } else if let earlier, !earlier.status.isFinished {
                print(earlier.line)
            } else {
                var options = BackgroundOptions()
                options.label = "\(preview.track.trackId) \(preview.track.title)".prefix(bytes: 1000)
                requests.append(BackgroundRequest(.download(preview.request, to: preview.file), options: options))
            }
        }
        let started = try await control.submit(requests, identifier: Self.identifier)
        lock.release()
        for download in started.compactMap(BackgroundDownload.init) { print(download.line) }
    }

    /// Changes downloads, all or none, and prints their new state.
    func change(_ downloads: [BackgroundDownload], _ change: BackgroundChange) async throws {
        let changed = try await control.change(downloads.map(\.status.id), change)
        for download in changed.compactMap(BackgroundDownload.init) { print(download.line) }
    }
}

/// A download in the background, for people and scripts.
struct BackgroundDownload: Encodable {
    let status: BackgroundStatus
    let trackID: Int64
    let name: String
    let file: String

    /// Nil for a task of another program.
    init?(_ status: BackgroundStatus) {
        let label = status.request.options.label.split(separator: " ", maxSplits: 1)
        guard case .download(_, let file) = status.request.work, let trackID = label.first.flatMap({ Int64($0) }) else {
            return nil
        }
        (self.status, self.trackID, self.file) = (status, trackID, file)
        name = label.count > 1 ? String(label[1]) : ""
    }

    private var error: String? { status.state == .done ? nil : status.failure?.message.printable }

    /// One line for people.
    var line: String {
        let rate = status.state == .running && status.bytesPerSecond >= 1 ? Int64(status.bytesPerSecond) : nil
        return "\(status.id)  \(status.state.rawValue.padded(to: 7))  \(trackID)  \(name.printable): "
            + amount(status.bytes, of: status.total) + (rate.map { ", \(size($0))/s" } ?? "")
            + (error.map { " (\($0))" } ?? "")
    }

    private enum Key: String, CodingKey { case id, trackId, name, state, bytes, total, file, error }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(status.id.description, forKey: .id)
        try object.encode(trackID, forKey: .trackId)
        try object.encode(name, forKey: .name)
        try object.encode(status.state.rawValue, forKey: .state)
        try object.encode(status.bytes, forKey: .bytes)
        try object.encode(status.total, forKey: .total)
        try object.encode(file, forKey: .file)
        try object.encodeIfPresent(error, forKey: .error)
    }
}

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
        commandName: "cancel", abstract: "Gives downloads up; what came is dropped.")

    @OptionGroup var chosen: ChosenDownloads

    func run() async throws { try await chosen.change(.cancel, of: [.waiting, .running, .paused]) }
}

/// The daemon that performs the downloads, which starts with the first one and ends ten minutes after the last.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "daemon", shouldDisplay: false)

    func run() async throws { try await BackgroundDaemon(BackgroundDownloads.service()).run() }
}

/// The downloads that a command names.
struct ChosenDownloads: ParsableArguments {
    @Argument(help: "A download's ID, or the beginning of one, or the track's number.") var id: [String]

    /// Changes the downloads, all or none.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - states: The states in which it is possible.
    /// - Throws: ``Failure``, for example if an ID matches no download, or several.
    func change(_ change: BackgroundChange, of states: Set<BackgroundStatus.State>) async throws {
        let downloads = try await BackgroundDownloads.open()
        let all = try await downloads.all()
        var found: [BackgroundDownload] = []
        for word in id {
            let download = try Self.find(word, in: all, of: states)
            if !found.contains(where: { $0.status.id == download.status.id }) { found.append(download) }
        }
        try await downloads.change(found, change)
    }

    private static func find(
        _ word: String, in all: [BackgroundDownload], of states: Set<BackgroundStatus.State>
    ) throws -> BackgroundDownload {
        var named = all.filter { "\($0.trackID)" == word }
        if named.isEmpty {
            named = all.filter { !word.isEmpty && $0.status.id.description.hasPrefix(word.lowercased()) }
        }
        let fit = named.filter { states.contains($0.status.state) }
        if fit.count > 1 {
            let ids = fit.map { $0.status.id.description }.joined(separator: ", ")
            throw Failure(.usage, "'\(word.printable)' names several downloads: \(ids)")
        }
        if let download = fit.first { return download }
        guard let ended = named.last else {
            throw Failure(.notFound, "there is no download '\(word.printable)'; 'halftunes downloads' lists them")
        }
        throw Failure(.notFound, "'\(ended.name.printable)' is \(ended.status.state.rawValue) already")
    }
}
