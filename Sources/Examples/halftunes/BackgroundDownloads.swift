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
        let all = try await BackgroundDownloads(control: control).all()
        await control.close()
        return all
    }

    /// Waits until no other program starts a download, here or in the foreground.
    static func lock() throws -> FileLock { try FileLock(service().folder + ".lock") }

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
    ///
    /// - Throws: ``Failure`` if one of the downloads is in the foreground; then none is started.
    func start(_ previews: [Preview]) async throws {
        let lock = try Self.lock()
        let known = try await all()
        for preview in previews where !known.contains(where: { $0.file == preview.file && !$0.status.isFinished }) {
            try ForegroundDownload.refuse(preview.track.title, preview.file)
        }
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

    /// Resumes downloads, all or none, and prints their new state.
    ///
    /// - Throws: ``Failure`` if a failed one of them is in the foreground now.
    func resume(_ downloads: [BackgroundDownload]) async throws {
        let lock = try Self.lock()
        for download in downloads where download.status.state == .failed {
            try ForegroundDownload.refuse(download.name.printable, download.file)
        }
        try await change(downloads, .resume)
        lock.release()
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

    /// Checks that no download in the background writes the previews' files, or has a part of one.
    ///
    /// - Throws: ``Failure`` that names the download.
    static func refuse(_ previews: [Preview]) async throws {
        guard !previews.isEmpty else { return }
        let running = try await BackgroundDownloads.all().filter { !$0.status.isFinished }
        for download in running where previews.contains(where: { $0.file == download.file && !$0.isThere }) {
            throw Failure(
                .partlyDone,
                "'\(download.name.printable)' is \(download.status.state.rawValue) in the background: "
                    + "'halftunes downloads' lists it, 'halftunes cancel \(download.trackID)' gives it up")
        }
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

/// The daemon that performs the downloads, which starts with the first one and ends ten minutes after the last.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "daemon", shouldDisplay: false)

    func run() async throws { try await BackgroundDaemon(BackgroundDownloads.service()).run() }
}
