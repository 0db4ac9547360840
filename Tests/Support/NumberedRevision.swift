public import ByteClubCore

extension Revision {
    /// The version that a journal with one namespace counts by a number.
    public static func number(_ number: Int64) -> Revision { JournalRevision(number: number).revision }

    /// Becomes the version whose number follows, when it is a journal's.
    public mutating func advance() { if let number { self = .number(number + 1) } }

    /// The number by which a journal counts it; nil when it is no journal's.
    public var number: Int64? { JournalRevision(self)?.number }
}
