import ByteClubHTTP
import FoundationEssentials

/// The downloads that go on without this program: a daemon does them.
struct BackgroundDownloads {
    private let control: BackgroundControl

    /// What the downloads belong to, among all that the daemon does.
    private static let identifier = "previews"

    /// Where the daemon keeps the downloads: this program is the daemon as well, see ``DaemonCommand``.
    static func service() throws -> BackgroundService {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return try BackgroundService(name: "halftunes", command: [program, "daemon"])
    }

    /// All downloads, asked of a daemon that is started only when it can tell of any.
    static func all() async throws -> [BackgroundDownload] {
        guard let control = try await BackgroundControl.looking(at: service()) else { return [] }
        return try await BackgroundDownloads(control: control).all()
    }

    /// Speaks with the daemon, which is started where none runs and then goes on with what it was at.
    static func open() async throws -> BackgroundDownloads {
        BackgroundDownloads(control: try await BackgroundControl(service()))
    }

    /// All downloads, oldest first; also those that have ended, for 30 days.
    func all() async throws -> [BackgroundDownload] {
        try await control.tasks().filter { $0.identifier == Self.identifier }.compactMap(BackgroundDownload.init)
    }

    /// Has previews downloaded that are not there and not on their way, and tells the downloads' IDs.
    ///
    /// When it returns, they are recorded: they go on whatever happens to this program, the daemon or the machine.
    ///
    /// Under a lock, so that of two programs the second one finds what the first one recorded.
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
                options.label = BackgroundDownload.label(of: preview.track)
                requests.append(BackgroundRequest(.download(preview.request, to: preview.file), options: options))
            }
        }
        let started = try await control.submit(requests, identifier: Self.identifier)
        lock.release()
        for download in started.compactMap(BackgroundDownload.init) { print(download.line) }
    }

    /// Changes downloads, all or none, and tells how they stand then.
    func change(_ downloads: [BackgroundDownload], _ change: BackgroundChange) async throws {
        let standing = try await control.change(downloads.map(\.status.id), change)
        for download in standing.compactMap(BackgroundDownload.init) { print(download.line) }
    }
}

/// One of the downloads, as people and scripts are told of it.
struct BackgroundDownload: Encodable {
    let status: BackgroundStatus
    let trackID: Int64
    let name: String
    let file: String

    /// Nil for a task that this program did not make.
    init?(_ status: BackgroundStatus) {
        let label = status.request.options.label.split(separator: " ", maxSplits: 1)
        guard case .download(_, let file) = status.request.work, let trackID = label.first.flatMap({ Int64($0) }) else {
            return nil
        }
        self.status = status
        self.trackID = trackID
        self.file = file
        name = label.count > 1 ? String(label[1]) : ""
    }

    /// What a task is labelled: the track's number, and what people are told it is.
    static func label(of track: Track) -> String { "\(track.trackId) \(track.title)".prefix(bytes: 1000) }

    /// For people, in one line.
    var line: String {
        var amount = Amount.text(status.bytes, of: status.total)
        if status.state == .running, status.bytesPerSecond >= 1 {
            amount += ", \(Amount.text(Int64(status.bytesPerSecond)))/s"
        }
        let reason = status.state == .done ? nil : status.failure?.message.printable
        return "\(status.id)  \(status.state.rawValue.padded(to: 7))  \(trackID)  \(name.printable): \(amount)"
            + (reason.map { " (\($0))" } ?? "")
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
        try object.encodeIfPresent(status.state == .done ? nil : status.failure?.message, forKey: .error)
    }
}
