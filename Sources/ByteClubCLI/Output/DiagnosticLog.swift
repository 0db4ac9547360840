import Logging

/// The program's log on standard error, disabled unless BYTECLUB_LOG names a level.
struct DiagnosticLog: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let output: Output

    /// A logger for the lower layers.
    static func logger(_ context: Context) -> Logger {
        guard let level = context.environment["BYTECLUB_LOG"].flatMap({ Logger.Level(rawValue: $0.lowercased()) })
        else {
            return Logger(label: "byteclub") { _ in SwiftLogNoOpLogHandler() }
        }
        return Logger(label: "byteclub") { _ in DiagnosticLog(logLevel: level, output: context.diagnostics) }
    }

    private init(logLevel: Logger.Level, output: Output) {
        self.logLevel = logLevel
        self.output = output
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = "byteclub: \(event.level): \(event.message)"
        for (key, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }).sorted(by: {
            $0.key < $1.key
        }) {
            line += " \(key)=\(value)"
        }
        try? output.line(Failure.line(line))
    }
}
