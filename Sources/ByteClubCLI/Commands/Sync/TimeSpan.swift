import ArgumentParser

/// A length of time as people type it: `90s`, `45m`, `2h`, `1h30m`, `1d`, `2w`.
struct TimeSpan: Hashable, Sendable {
    /// Whole seconds, 1 to a year's.
    let seconds: Int64

    /// Reads a length of time; nil when the text is none.
    init?(argument text: String) {
        var (sum, rest) = (Int64(0), text.utf8[...])
        while !rest.isEmpty {
            let digits = rest.prefix { (48...57).contains($0) }
            rest = rest.dropFirst(digits.count)
            guard digits.count <= 9, let number = Int64(String(Substring(digits))), let unit = rest.popFirst(),
                let scale = Self.scales[unit]
            else { return nil }
            sum += number * scale
        }
        guard (1...366 * 86_400).contains(sum) else { return nil }
        seconds = sum
    }

    /// Reads what follows an option.
    ///
    /// - Throws: `ValidationError` that says how a length of time is written.
    static func read(_ text: String) throws -> TimeSpan {
        guard let span = TimeSpan(argument: text) else {
            throw ValidationError("write a time of at most a year, as in 90s, 45m, 2h, 1h30m, 3d or 2w")
        }
        return span
    }

    private static let scales: [UInt8: Int64] = [
        UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3_600, UInt8(ascii: "d"): 86_400,
        UInt8(ascii: "w"): 604_800,
    ]
}
