import TestSupport

/// Transfers by `ByteClubHTTP` in a separate process.
///
/// `cancel URL COUNT`, `queue URL COUNT`, `tls URL CA COUNT`, `progress FILE URL COUNT`, `serial COUNT DIR [PEER]` and
/// `rate SECONDS` print the figures of ``CancelLatency``, ``QueuedTasks``, ``Reconnects``, ``ProgressEvents``,
/// ``SerialUploads`` and ``RateExactness``. What transfers cost is measured with `byteclub-http` in `Tests/HTTPPeers`.
enum SessionClient {
    static func run(_ arguments: [String]) async throws {
        let usage = Settings.UsageError(
            description: """
                usage: session cancel URL COUNT | queue URL COUNT | tls URL CA COUNT | progress FILE URL COUNT | \
                serial COUNT DIR [PEER] | rate SECONDS
                """)
        let number = { (index: Int) throws(Settings.UsageError) -> Int in
            guard let number = Int(arguments[index]) else { throw usage }
            return number
        }
        switch (arguments.first, arguments.count) {
        case ("cancel", 3): try await CancelLatency.run(arguments[1], number(2))
        case ("queue", 3): try await QueuedTasks.run(arguments[1], number(2))
        case ("tls", 4): try await Reconnects.run(arguments[1], arguments[2], number(3))
        case ("progress", 4): try await ProgressEvents.run(arguments[1], arguments[2], number(3))
        case ("serial", 3...4):
            try await SerialUploads.run(number(1), in: arguments[2], bare: arguments.count > 3 ? arguments[3] : nil)
        case ("rate", 2): try await RateExactness.run(seconds: number(1))
        default: throw usage
        }
    }
}
