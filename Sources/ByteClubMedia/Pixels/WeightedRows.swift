/// Adds up weighted rows of bytes.
///
/// Each byte becomes a number of 16 bits once, and of its products with weights the upper half is added, which
/// processors do for eight or more samples at a time. A sum has six bits of a fraction.
@safe struct WeightedRows: ~Copyable {
    /// The largest number of rows that are added up: the rest of as many products is less than half of what a byte
    /// counts.
    static let mostRows = 48
    private static let fraction: Int16 = 6
    /// Grey, so that a sum has room on both sides.
    private static let middle: Int16 = 128

    private let source: UnsafeBufferPointer<UInt8>
    private let stride: Int
    private let size: Int
    private let count: Int
    /// How many rows `wide` keeps, each in the place of its number modulo this.
    private let capacity: Int
    /// The first row that has not been in `wide` yet.
    private var next = 0
    private let wide: UnsafeMutableBufferPointer<Int16>
    private let sums: UnsafeMutableBufferPointer<Int16>

    /// `count` rows of `size` bytes, from one to the next `stride` bytes; the source must outlive it.
    ///
    /// `longest` is the largest number of rows that are added up, from 1 to ``mostRows``.
    init(source: UnsafeBufferPointer<UInt8>, stride: Int, size: Int, count: Int, longest: Int) {
        precondition((1...Self.mostRows).contains(longest), "the rest of more products would be too much")
        unsafe self.source = unsafe source
        self.stride = stride
        self.size = size
        self.count = count
        capacity = longest
        unsafe wide = .allocate(capacity: size * longest)
        unsafe wide.initialize(repeating: 0)
        unsafe sums = .allocate(capacity: size)
        unsafe sums.initialize(repeating: 0)
    }

    deinit {
        unsafe wide.deallocate()
        unsafe sums.deallocate()
    }

    /// Writes the sum of rows from a first one on, which must not be less than in the previous call.
    mutating func write(from first: Int, _ weights: ArraySlice<Int16>, to output: UnsafeMutableBufferPointer<UInt8>) {
        precondition(
            weights.count <= capacity && weights.count.isMultiple(of: 4) && output.count == size,
            "no more rows than were told")
        next = max(next, first)
        // Rows after the last one have no weight.
        while next < min(first + weights.count, count) {
            widen(next)
            next += 1
        }
        // Truncating a product loses half of the last bit on average.
        unsafe sums.update(repeating: (1 << (Self.fraction - 1)) + Int16(weights.count / 2))
        for tap in Swift.stride(from: 0, to: weights.count, by: 4) {
            let place = weights.startIndex + tap
            unsafe Self.add(
                (line(first + tap), line(first + tap + 1), line(first + tap + 2), line(first + tap + 3)),
                (weights[place], weights[place + 1], weights[place + 2], weights[place + 3]), to: sums)
        }
        for column in 0..<size {
            let value = unsafe (sums[column] &>> Self.fraction) &+ Self.middle
            unsafe output[column] = UInt8(truncatingIfNeeded: min(max(value, 0), 255))
        }
    }

    private typealias Line = UnsafePointer<Int16>

    private func line(_ row: Int) -> Line {
        unsafe UnsafePointer(wide.baseAddress.unsafelyUnwrapped + row % capacity * size)
    }

    private func widen(_ row: Int) {
        let bytes = unsafe UnsafeBufferPointer(rebasing: source[row * stride..<row * stride + size])
        let start = row % capacity * size
        let numbers = unsafe UnsafeMutableBufferPointer(rebasing: wide[start..<start + size])
        for column in 0..<size { unsafe numbers[column] = (Int16(bytes[column]) &- Self.middle) &<< 8 }
    }

    /// Adds four weighted rows.
    ///
    /// The weights come from memory: one that a condition chose would be multiplied in 32 bits, at a third of the speed.
    private static func add(
        _ rows: (Line, Line, Line, Line), _ weights: (Int16, Int16, Int16, Int16),
        to sums: UnsafeMutableBufferPointer<Int16>
    ) {
        for column in 0..<sums.count {
            unsafe sums[column] &+=
                (upper(rows.0[column], weights.0) &+ upper(rows.1[column], weights.1))
                &+ (upper(rows.2[column], weights.2) &+ upper(rows.3[column], weights.3))
        }
    }

    @inline(__always)
    private static func upper(_ value: Int16, _ weight: Int16) -> Int16 {
        Int16(truncatingIfNeeded: (Int32(value) &* Int32(weight)) &>> 16)
    }
}
