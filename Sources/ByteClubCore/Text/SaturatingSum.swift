extension Int64 {
    /// The sum, or the largest number where it is larger than that: sizes that others tell are added so.
    public func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
