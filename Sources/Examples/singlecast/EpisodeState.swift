import ByteClubHTTP
import Glibc

/// How an episode's download stands, as people and scripts see it.
struct EpisodeState: Encodable {
    /// Nil for an episode of a podcast that was subscribed to before.
    var number: Int?
    var title: String
    /// `waiting`, `running`, `paused`, `done` or `failed`.
    var state: String
    /// Bytes that are safe on disk.
    var bytes: Int64
    /// How many there will be; nil while that is unknown.
    var total: Int64?
    var bytesPerSecond: Double?
    var file: String
    /// What went wrong last, where something did.
    var error: String?

    /// How an episode stands; nil for one that is not downloaded and was not asked for, or whose file is gone.
    ///
    /// A file appears when it is whole, so it is the best witness; else the daemon knows.
    init?(_ episode: Episode, _ tasks: [String: BackgroundStatus]) {
        guard let file = episode.file else { return nil }
        if let size = sizeOfFile(file) {
            self.init(.done, episode.title, file, bytes: size, total: size)
        } else if let task = tasks[file], task.state != .done {
            self.init(task, episode.title, file)
            total = total ?? episode.length
        } else if let failure = episode.failure {
            self.init(.failed, episode.title, file, bytes: 0, total: episode.length)
            error = failure
        } else {
            return nil
        }
        number = episode.number
    }

    /// How a download of the daemon stands.
    init(_ task: BackgroundStatus, _ title: String, _ file: String) {
        self.init(task.state, title, file, bytes: task.bytes, total: task.total)
        bytesPerSecond = task.state == .running ? task.bytesPerSecond : nil
        error = task.failure?.message
    }

    private init(_ state: BackgroundStatus.State, _ title: String, _ file: String, bytes: Int64, total: Int64?) {
        (self.state, self.title, self.file) = (state.rawValue, title, file)
        (self.bytes, self.total) = (bytes, total)
    }

    private enum Key: CodingKey { case number, title, state, bytes, total, bytesPerSecond, file, error }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encodeIfPresent(number, forKey: .number)
        try object.encode(title, forKey: .title)
        try object.encode(state, forKey: .state)
        try object.encode(bytes, forKey: .bytes)
        // Scripts find it always: null while it is unknown.
        try object.encode(total, forKey: .total)
        try object.encodeIfPresent(bytesPerSecond, forKey: .bytesPerSecond)
        try object.encode(file, forKey: .file)
        try object.encodeIfPresent(error, forKey: .error)
    }

    /// One line for people.
    var line: String {
        let amount = state == "done" ? size(Double(bytes)) : progress(Double(bytes), of: total.map(Double.init))
        let rate = bytesPerSecond.map { ", \(size($0))/s" } ?? ""
        return "\(number.map { "\($0)  " } ?? "")\(title): \(state), \(amount)\(rate)"
            + (error.map { " (\($0.printable))" } ?? "")
    }
}

/// How long a file is; nil when it is not there.
func sizeOfFile(_ path: String) -> Int64? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
}
