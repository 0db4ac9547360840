extension RateSchedule {
    /// Reads a schedule as people type it, one word for each limit.
    ///
    /// A word is a limit, which holds outside of all parts of the day, or a limit, `@`, and a part of the day:
    ///
    ///     2M 500K@08:00-18:00 pause@18:00-19:00
    ///
    /// A limit is a number of bytes per second such as `800`, `500K`, `1.5M` or `1G` (K is 1024), `unlimited`, or
    /// `pause`, which holds all transfers; `off` is `unlimited` as well. Times are local, from `00:00` to `24:00`, and `8`
    /// is `08:00`; a part that does not end after it starts goes on into the next day. The first part that a minute is
    /// in counts. No word at all is `unlimited`.
    ///
    /// - Parameter arguments: The words.
    /// - Throws: ``TransferError/Code/badConfiguration``, with the word that is wrong.
    public init(arguments: [String]) throws(TransferError) {
        self.init()
        var isLimited = false
        for word in arguments {
            let parts = word.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = parts.first, let limit = Self.limit(first.lowercased()) else {
                throw Self.bad(word, "is no limit; write one as in 500K, 2M, unlimited or pause")
            }
            if parts.count == 1 {
                guard !isLimited else {
                    throw Self.bad(
                        word, "is a second limit for the whole day; add its times, as in \(word)@08:00-18:00")
                }
                isLimited = true
                otherwise = limit
            } else {
                let times = parts[1].split(separator: "-", omittingEmptySubsequences: false)
                guard times.count == 2, let from = Self.minute(times[0]), let to = Self.minute(times[1]),
                    from < Self.minutesOfDay
                else { throw Self.bad(word, "has no part of the day; write it as in \(first)@08:00-18:00") }
                spans.append(Span(from: from, to: to, rate: limit))
            }
        }
        try check()
    }

    /// The words that ``init(arguments:)`` makes the same schedule of, at least one.
    public var arguments: [String] {
        [Self.text(otherwise)] + spans.map { "\(Self.text($0.rate))@\(Self.time($0.from))-\(Self.time($0.to))" }
    }

    private static let units: [(letter: Character, bytes: Int)] = [("g", 1 << 30), ("m", 1 << 20), ("k", 1 << 10)]

    private static func text(_ rate: Int?) -> String {
        guard let rate else { return "unlimited" }
        guard rate > 0 else { return "pause" }
        for (letter, bytes) in units where rate % bytes == 0 { return "\(rate / bytes)\(letter.uppercased())" }
        return "\(rate)"
    }

    /// The limit that a text names; nil when it names none.
    private static func limit(_ text: String) -> Int?? {
        switch text {
        case "unlimited", "off": return .some(nil)
        case "pause": return 0
        default: break
        }
        var number = text[...]
        for ending in ["/s", "ib", "b"] where number.hasSuffix(ending) { number = number.dropLast(ending.utf8.count) }
        var scale = 1
        if let unit = units.first(where: { $0.letter == number.last }) {
            scale = unit.bytes
            number = number.dropLast()
        }
        guard let first = number.utf8.first, (48...57).contains(first), number.last != ".",
            number.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }), let value = Double(number)
        else { return Int??.none }
        let rate = value * Double(scale)
        return rate >= 1 && rate <= Double(mostRate) ? Int(rate) : Int??.none
    }

    private static func time(_ minute: Int) -> String {
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(digits(minute / 60)):\(digits(minute % 60))"
    }

    /// Reads `08:00`, `8:00` or `8`.
    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ (1...2).contains($0.utf8.count) && $0.utf8.first != 0x2B }),
            let hour = Int(parts[0]), let minute = parts.count == 2 ? Int(parts[1]) : 0, hour >= 0,
            (0..<60).contains(minute), parts.count == 1 || parts[1].utf8.count == 2
        else { return nil }
        let sum = hour * 60 + minute
        return sum <= minutesOfDay ? sum : nil
    }

    private static func bad(_ word: String, _ reason: String) -> TransferError {
        TransferError(.badConfiguration, "'\(word)' \(reason)")
    }
}
