/// One event of a mirror's log.
public struct SyncLogEntry: Hashable, Sendable, Codable {
    /// Its number in the mirror's log, which grows.
    public var seq: Int64
    /// When, in seconds since 1970.
    @JSONMoment public var at: Int64
    /// The path relative to the mirror's root.
    public var path: String
    /// What happened, as ``SyncEvent/Kind`` names it.
    public var event: String
    /// The rule that decided.
    public var rule: String?
    /// One line for people.
    public var detail: String?

    /// Describes an event.
    public init(
        seq: Int64 = 0, at: Int64, path: String, event: String, rule: String? = nil, detail: String? = nil
    ) {
        self.seq = seq
        self.at = at
        self.path = path
        self.event = event
        self.rule = rule
        self.detail = detail
    }
}
