/// What a ``CatalogueServer`` does differently for one path.
public struct CatalogueFaults: Sendable {
    /// The most bytes per second of a body on each connection; nil for no limit.
    public var rate: Int?

    /// After how many bytes of an answer's body it stops until this is nil or larger, so that a transfer is surely under
    /// way for as long as a test needs; nil for never.
    public var holdsAfter: Int?

    /// After how many bytes of a body the connection is reset; nil for never.
    public var cutsAfter: Int?

    /// How many answers are cut or refused; nil for all.
    public var count: Int?

    /// The status that is answered instead, with no body; nil for the usual answer.
    public var status: Int?

    /// The seconds of `Retry-After` with that status; nil for none.
    public var retryAfter: Int?

    /// Whether ranges are served; else `Accept-Ranges: none` is said.
    public var servesRanges = true

    /// No faults.
    public init() {}

    /// The faults of the next answer, which counts.
    mutating func next() -> CatalogueFaults {
        guard let left = count, status != nil || cutsAfter != nil else { return self }
        guard left > 0 else {
            (status, retryAfter, cutsAfter, count) = (nil, nil, nil, nil)
            return self
        }
        count = left - 1
        return self
    }
}
