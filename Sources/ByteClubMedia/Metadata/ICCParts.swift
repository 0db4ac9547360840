/// Collects the numbered APP2 segments of an ICC profile (ICC.1:2022, annex B.4).
struct ICCParts {
    private var parts: [Int: Range<Int>] = [:]
    private var total = 0

    /// Takes a segment if its first 14 bytes say that it is part of a profile.
    mutating func add(_ body: Range<Int>, start: [UInt8]) {
        guard start.count == 14, start.starts(with: "ICC_PROFILE\0"), start[12] >= 1 else { return }
        total = max(total, Int(start[13]))
        parts[Int(start[12])] = body.dropFirst(14)
    }

    /// The parts in order; empty unless all of them are there.
    var ranges: [Range<Int>] {
        let ranges = (1...max(total, 1)).compactMap { parts[$0] }
        return total > 0 && ranges.count == total ? ranges : []
    }
}
