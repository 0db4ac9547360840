/// Sizes as people read them: 1024-based, one decimal from KB up, as in `27 bytes`, `225.4 KB`, `2.3 MB`.
public enum HumanSize {
    private static let units = ["KB", "MB", "GB", "TB", "PB", "EB"]

    /// The text for people, with the right names of units, as in `225.4 KiB`; the wire uses ``text(_:)``.
    public static func shown(_ bytes: Int64) -> String {
        let text = text(bytes)
        return bytes < 1024 ? text : String(text.dropLast()) + "iB"
    }

    /// The text for a number of bytes; negative numbers count as zero.
    public static func text(_ bytes: Int64) -> String {
        if bytes < 1024 { return "\(max(0, bytes)) bytes" }
        var tenths = (Double(bytes) * 10 / 1024).rounded()
        var unit = 0
        while tenths >= 10_240, unit < units.count - 1 {
            tenths = (Double(bytes) * 10 / Self.scale(unit + 1)).rounded()
            unit += 1
        }
        let whole = Int64(tenths)
        return "\(whole / 10).\(whole % 10) \(units[unit])"
    }

    /// Reads a number of bytes as people type it: `800`, `500k`, `2M`, `1.5GiB`; nil when the text is none, or less than
    /// a byte.
    public static func read(_ text: String) -> Int64? {
        var text = text.lowercased()[...]
        if text.hasSuffix("ib") { text = text.dropLast(2) } else if text.hasSuffix("b") { text = text.dropLast() }
        var scale = 1.0
        if let unit = text.last, let power = ["k": 0, "m": 1, "g": 2][unit] {
            scale = Self.scale(power)
            text = text.dropLast()
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }), text.last != ".",
            let number = Double(text), number * scale >= 1, number * scale <= 1e15
        else { return nil }
        return Int64(number * scale)
    }

    /// A text that ``read(_:)`` makes the same number of, as in `2M`, `1536K` or `800`; for numbers from 1 to 10^15, and
    /// the text for another one cannot be read.
    public static func exact(_ bytes: Int64) -> String {
        let unit = [("G", 30), ("M", 20), ("K", 10)].first { bytes % (1 << $0.1) == 0 }
        return unit.map { "\(bytes >> $0.1)\($0.0)" } ?? "\(bytes)"
    }

    private static func scale(_ unit: Int) -> Double {
        (0...unit).reduce(1.0) { product, _ in product * 1024 }
    }
}

extension Int64 {
    /// The sum, or the largest number where it is larger than that: sizes that others tell are added so.
    public func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
