/// How much of something is there, for people.
enum Amount {
    /// Such as `12.3% of 3.4 MB`; only the bytes where the whole is unknown.
    static func text(_ bytes: Int64, of total: Int64?) -> String {
        guard let total, total >= 0 else { return text(bytes) }
        // Rounded down: all is there only at 100.0%.
        let share = total > 0 ? min(max(Double(bytes) / Double(total), 0), 1) : 1
        let thousandths = Int(share * 1000)
        return "\(thousandths / 10).\(thousandths % 10)% of \(text(total))"
    }

    /// Such as `3.4 MB`.
    static func text(_ bytes: Int64) -> String {
        guard bytes >= 1000 else { return "\(bytes) bytes" }
        var (tenths, unit) = (bytes / 100, "kB")
        for larger in ["MB", "GB", "TB"] where tenths >= 10_000 { (tenths, unit) = (tenths / 1000, larger) }
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
