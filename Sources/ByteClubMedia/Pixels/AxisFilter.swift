/// Brings the samples of one axis to where another axis has them: halves them as often as is harmless, then Lanczos-3.
struct AxisFilter {
    /// What is left for Lanczos-3 is at most this many times what it gives.
    static let longestReduction = 6.0

    /// How often each two samples become their mean.
    let halvings: Int
    /// Nil where the samples stand where they should.
    let kernel: ResampleKernel?

    /// A filter from an axis to another.
    ///
    /// `reduction` is what may be left for Lanczos-3, from 2 to ``longestReduction``: halving costs a fraction of its
    /// time, and takes a little of the sharpness when less than 4 is left.
    init(from source: PlaneAxis, to target: PlaneAxis, reduction: Double = longestReduction) {
        precondition((2...Self.longestReduction).contains(reduction), "the filter's sums are made for this")
        var (own, halvings) = (source, 0)
        while own.length >= reduction * target.length {
            own = own.coarser(by: 2)
            halvings += 1
        }
        self.halvings = halvings
        kernel = own.hasSamples(of: target) ? nil : ResampleKernel(from: own, to: target)
    }

    var changesNothing: Bool { halvings == 0 && kernel == nil }
}
