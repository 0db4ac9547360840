/// An item that waits, or travels, without anything being wrong with it, as the database keeps it for those who ask why.
struct WaitingItem: Hashable, Sendable {
    /// What is with such an item.
    enum Reason: Hashable, Sendable {
        /// It is a large file on its way, of which so many bytes have travelled.
        case underWay(bytes: Int64)
        /// It is a large file, and others go first.
        case queued
        /// It is a large file, and the schedule lets none travel now.
        case scheduled
        /// Somebody is writing it; it is looked at again then, in seconds since 1970.
        case written(until: Int64)
    }

    let item: ItemID
    let reason: Reason

    init(_ item: ItemID, _ reason: Reason) { (self.item, self.reason) = (item, reason) }
}
