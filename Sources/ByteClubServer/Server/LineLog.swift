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

/// How the lines of the log look.
enum LogFormat: String, CaseIterable, Sendable {
    /// For people.
    case text
    /// An object a line, for programs.
    case json

    /// One event as a line without its end.
    func line(stamp: String, level: Logger.Level, message: String, metadata: Logger.Metadata) -> String {
        let fields = metadata.sorted { $0.key < $1.key }
        switch self {
        case .text:
            let line = fields.reduce("\(stamp) \(level) \(message)") { "\($0) \($1.key)=\($1.value)" }
            return String(decoding: line.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        case .json:
            var json = JSONText()
            json.object { json in
                json.member("time", stamp)
                json.member("level", level.rawValue)
                json.member("message", message)
                for (key, value) in fields {
                    json.key(named: key)
                    Self.write(value, to: &json)
                }
            }
            return String(decoding: json.bytes, as: UTF8.self)
        }
    }

    private static func write(_ value: Logger.Metadata.Value, to json: inout JSONText) {
        switch value {
        case .stringConvertible(let number as Int): json.value(Int64(number))
        case .stringConvertible(let number as Int64): json.value(number)
        case .stringConvertible(let number as Double): json.value(number)
        default: json.value("\(value)")
        }
    }
}

extension Logger {
    /// A logger of the messages that are also at a level or above it.
    func atLeast(_ level: Level) -> Logger {
        var logger = self
        logger.logLevel = max(logLevel, level)
        return logger
    }
}

/// The machine's clock.
enum SystemTime {
    /// Seconds since 1970.
    @Sendable static func seconds() -> Int64 { Int64(time(nil)) }

    /// A moment in seconds since 1970 as clocks here show it, as in `2026-11-21 02:08`.
    static func local(_ seconds: Int64) -> String { text(of: seconds, "%Y-%m-%d %H:%M", isLocal: true) }

    /// A moment, in UTC by default, as a pattern of strftime(3) writes it, in less than 32 bytes.
    static func text(of seconds: Int64, _ pattern: String, isLocal: Bool = false) -> String {
        var seconds = time_t(seconds)
        var parts = unsafe tm()
        _ = unsafe isLocal ? localtime_r(&seconds, &parts) : gmtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(&buffer, buffer.count, pattern, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
