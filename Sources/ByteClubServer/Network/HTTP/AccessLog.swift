import Logging

/// Writes a line a request.
struct AccessLog: Sendable {
    let logger: Logger
    let format: LogFormat
    /// How important the lines are.
    let level: Logger.Level

    /// Writes a request's line, with a remark on what went wrong besides.
    func write(_ record: RequestRecord, remark: String? = nil) {
        switch format {
        case .text: logger.log(level: level, "\(record)\(remark.map { " (\($0))" } ?? "")")
        case .json:
            var fields = record.fields
            if let remark { fields["remark"] = .string(remark) }
            logger.log(level: level, "request", metadata: fields)
        }
    }
}
