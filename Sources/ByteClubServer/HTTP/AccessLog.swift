import Logging

/// Writes a line a request.
struct AccessLog: Sendable {
    let logger: Logger
    let format: LogFormat

    /// Writes a request's line, with a remark on what went wrong besides.
    func write(_ record: RequestRecord, remark: String? = nil) {
        switch format {
        case .text: logger.info("\(record)\(remark.map { " (\($0))" } ?? "")")
        case .json:
            var fields = record.fields
            if let remark { fields["remark"] = .string(remark) }
            logger.info("request", metadata: fields)
        }
    }
}
