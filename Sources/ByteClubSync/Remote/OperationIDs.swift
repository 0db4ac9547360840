import ByteClubCore

/// A generator of unique operation identifiers.
final class OperationIDs {
    /// What the identifiers begin with, before a hyphen and a number.
    let writer: String
    private var count = 0

    /// Creates a generator for one session of the mirror with this identity.
    init(mirror: String, at now: Int64) {
        writer = mirror.prefix(8) + "-" + String(UInt64(bitPattern: now), radix: 16)
    }

    /// The next identifier.
    ///
    /// - Throws: ``SyncError`` with the code `database` when the mirror's identity is no name.
    func next() throws(SyncError) -> OperationID {
        count += 1
        let digits = String(count)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        guard let id = OperationID(writer + "-" + number) else {
            throw SyncError(.database, "the mirror's identity in the database is damaged")
        }
        return id
    }
}
