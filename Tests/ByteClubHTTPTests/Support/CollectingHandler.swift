import Logging

/// A log handler that collects messages.
struct CollectingHandler: LogHandler {
    let lines: Log<String>
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    init(_ lines: Log<String>, from level: Logger.Level = .trace) {
        self.lines = lines
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.message)") }
}
