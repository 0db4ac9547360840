/// An item that waits or is being transferred without a problem, as stored for status and `why`.
struct WaitingItem: Hashable, Sendable {
    /// Why an item waits.
    enum Reason: Hashable, Sendable {
        /// It is a large file on its way, of which so many bytes are transferred.
        case underWay(bytes: Int64)
        /// It waits for a transfer slot.
        case queued
        /// It waits for the schedule.
        case scheduled
        /// Its file is being written; it is retried then, in seconds since 1970.
        case written(until: Int64)
    }

    let item: ItemID
    let reason: Reason

    init(_ item: ItemID, _ reason: Reason) { (self.item, self.reason) = (item, reason) }
}
