import ByteClubCore

/// An event of a sync as JSON, with the time at which it was told among its fields.
struct DatedSyncEvent: Encodable, Sendable {
    var event: SyncEvent
    /// As RFC 3339 in UTC.
    var time: String

    private enum CodingKeys: String, CodingKey { case time }

    func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var box = encoder.container(keyedBy: CodingKeys.self)
        try box.encode(time, forKey: .time)
    }
}
