import ByteClubCore
import Glibc
import Logging

/// Writes a line a message to standard error, as in `2013-08-06T09:14:58Z info GET /1/…`, or an object a line.
struct LineLog: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    private let format: LogFormat
    private let write: @Sendable (String) -> Void

    /// Creates a log of the messages at a level or above it.
    init(
        level: Logger.Level, format: LogFormat = .text,
        write: @escaping @Sendable (String) -> Void = LineLog.toStandardError
    ) {
        logLevel = level
        self.format = format
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = event.metadata.map { self.metadata.merging($0) { $1 } } ?? self.metadata
        let stamp = SystemTime.text(of: SystemTime.seconds(), "%Y-%m-%dT%H:%M:%SZ")
        let line = format.line(stamp: stamp, level: event.level, message: "\(event.message)", metadata: metadata)
        write(line + "\n")
    }

    /// Writes a whole line at once, so that lines of several threads never mix.
    @Sendable static func toStandardError(_ line: String) {
        let bytes = Array(line.utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
