internal import Glibc

/// The Lanczos-3 weights that make one axis of a picture smaller, in fixed point.
///
/// Whole numbers give the same bytes on every processor.
struct ResampleKernel {
    /// Fraction bits of a weight: 255 times the sum of magnitudes still fits 32 bits.
    static let precision: Int32 = 15

    /// For each output position, the first input position and where its weights begin.
    private(set) var starts: [Int] = []
    private(set) var taps: [Range<Int>] = []
    private(set) var weights: [Int32] = []

    init(from source: Int, to target: Int) {
        let scale = Double(source) / Double(target)
        let stretch = max(1, scale)
        for position in 0..<target {
            let centre = (Double(position) + 0.5) * scale
            let first = max(0, Int((centre - 3 * stretch).rounded(.up)))
            let last = min(source, Int((centre + 3 * stretch).rounded(.down)) + 1)
            let values = (first..<max(last, first + 1)).prefix(source - first).map {
                Self.lanczos((Double($0) + 0.5 - centre) / stretch)
            }
            let sum = values.reduce(0, +)
            let unit = Double(1 << Self.precision)
            var fixed = values.map { Int32((unit * $0 / sum).rounded()) }
            // Whatever rounding lost goes to the middle, so that a plain area keeps its value.
            fixed[fixed.count / 2] += (1 << Self.precision) - fixed.reduce(0, +)
            starts.append(first)
            taps.append(weights.count..<weights.count + fixed.count)
            weights += fixed
        }
    }

    private static func lanczos(_ x: Double) -> Double {
        guard abs(x) < 3 else { return 0 }
        guard abs(x) > 1e-9 else { return 1 }
        let angle = Double.pi * x
        return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }
}
