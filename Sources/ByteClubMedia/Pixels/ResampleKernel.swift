internal import Glibc

/// The Lanczos-3 weights that make one axis of a picture smaller, in fixed point.
///
/// Whole numbers give the same bytes on every processor.
struct ResampleKernel {
    /// Fraction bits of a weight.
    ///
    /// A weight then fits 16 bits, which processors multiply many of at once.
    static let precision: Int32 = 14

    /// What goes to one output position.
    struct Window {
        /// The first input position.
        let start: Int
        /// Where the weights of this and the following input positions lie.
        let taps: Range<Int>
    }

    /// One window for each output position.
    private(set) var windows: [Window] = []
    private(set) var weights: [Int16] = []

    init(from source: PlaneAxis, to target: PlaneAxis) {
        let count = source.samples
        let scale = source.length / target.length
        let stretch = max(1, scale)
        for position in 0..<target.samples {
            let centre = target.centre(of: position) * scale
            let first = min(max(0, Int((centre - 3 * stretch).rounded(.up))), count - 1)
            let last = min(count, Int((centre + 3 * stretch).rounded(.down)) + 1)
            let values = (first..<max(last, first + 1)).map {
                Self.lanczos((Double($0) + 0.5 - centre) / stretch)
            }
            let sum = values.reduce(0, +)
            let unit = Double(1 << Self.precision)
            var fixed = values.map { Int16((unit * $0 / sum).rounded()) }
            // Whatever rounding lost goes to the middle, so that a plain area keeps its value.
            fixed[fixed.count / 2] += Int16((1 << Self.precision) - fixed.reduce(0) { $0 + Int($1) })
            fixed += [Int16](repeating: 0, count: (4 - fixed.count % 4) % 4)
            windows.append(Window(start: first, taps: weights.count..<weights.count + fixed.count))
            weights += fixed
        }
    }

    /// The largest number of weights in a window.
    var longestWindow: Int { windows.reduce(1) { max($0, $1.taps.count) } }

    private static func lanczos(_ x: Double) -> Double {
        guard abs(x) < 3 else { return 0 }
        guard abs(x) > 1e-9 else { return 1 }
        // sin(3a) = 3 sin(a) - 4 sin(a)^3.
        let angle = Double.pi * x
        let square = sin(angle / 3) * sin(angle / 3)
        return square * (9 - 12 * square) / (angle * angle)
    }
}
