import ArgumentParser

/// One line of `--progress=json`.
struct ProgressEvent: Encodable, Sendable {
    /// The kind of an event.
    enum Kind: String, Encodable, Sendable {
        /// A transfer begins, or resumes.
        case start
        /// A transfer continues; at most once a second.
        case progress
        /// A transfer has ended with all bytes.
        case finish
        /// A transfer has ended without all bytes.
        case failed
        /// The command has ended; exactly one, the last.
        case summary
    }

    var event: Kind
    /// As RFC 3339 in UTC.
    var time: String
    /// The 16 digits of a background transfer's ID; nil for others.
    var id: String?
    /// The transferred file; nil in a summary.
    var path: String?
    /// Bytes that the other side has; in a summary those of all transfers of this run.
    var bytes: Int64
    /// Total bytes; nil when unknown.
    var total: Int64?
    /// Finished transfers, in a summary.
    var files: Int?
    /// How many did not, of a summary.
    var failed: Int?
    /// Transfers that were not necessary, in a summary.
    var present: Int?
    /// Transfers that were not tried, since they would have failed for the last failure's reason, in a summary.
    var skipped: Int?
    /// The version of this format, in a summary; increases when the meaning of a field changes.
    var version: Int?
}

extension Context {
    /// The time now, as RFC 3339 in UTC.
    var timestamp: String { CalendarTime.utc(now()).rfc3339 }

    /// Seconds since some moment.
    var seconds: Double { uptime() / .seconds(1) }

    /// Writes an event to standard error; without that it is lost.
    func report(_ event: ProgressEvent) {
        guard let line = try? JSON.line(event) else { return }
        try? diagnostics.write(line)
    }
}

/// Whether and how progress is shown.
enum ProgressMode: String, Sendable, CaseIterable, ExpressibleByArgument {
    /// A line redrawn on a terminal, log lines elsewhere.
    case auto
    /// The same, also with `--json`.
    case always
    /// Nothing.
    case never
    /// One JSON object per line, on any output.
    case json

    /// How progress is written.
    enum Display: Hashable, Sendable {
        /// One line, drawn again and again.
        case live
        /// Lines of a log.
        case log
        /// Lines with a ``ProgressEvent`` each.
        case events
        /// Nothing.
        case none
    }

    /// The display for this terminal; none uses escape sequences, except ``TaskbarProgress`` on terminals that support
    /// it.
    func display(_ context: Context, json: Bool) -> Display {
        if self == .json { return .events }
        if self == .never || (json && self != .always) { return .none }
        let isDumb = context.environment["TERM"] == "dumb"
        return context.terminal.isErrorTerminal && !isDumb ? .live : .log
    }
}
