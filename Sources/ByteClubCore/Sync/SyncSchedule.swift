/// When large files are transferred slower, or not at all: spans of the week, of which the first that holds decides.
///
/// Spans are separated by `;` or line breaks. A span has days, a time of day and a rule, in this order, of which the
/// first two are optional: `mon-fri 09:00-17:00 limit 500k; sat,sun pause; limit 2M`. `limit` is optional as well
/// before a rate that has a unit or is the whole span, since `mon 9` looks like an incomplete time. A span whose end is
/// not after its start continues on the next day. Notes are transferred at all times.
public struct SyncSchedule: Hashable, Sendable {
    /// What holds in a span.
    public enum Rule: Hashable, Sendable {
        /// Large files are not transferred.
        case pause
        /// They are transferred at this many bytes a second at most, 1 to 10^15, in each direction.
        case limit(Int)
        /// They are transferred without a limit.
        case unlimited
    }

    /// A part of every week.
    public struct Span: Hashable, Sendable {
        /// The days on which it starts, 0 being Monday; at least one.
        public var days: Set<Int>
        /// When it starts, in minutes since midnight, below 1440.
        public var start: Int
        /// When it ends, in minutes since that midnight; above `start`, and at most a day after it.
        public var end: Int
        /// What holds in it.
        public var rule: Rule

        /// Describes a span.
        public init(days: Set<Int>, start: Int, end: Int, rule: Rule) {
            self.days = days
            self.start = start
            self.end = end
            self.rule = rule
        }

        fileprivate func holds(_ day: Int, _ minute: Int) -> Bool {
            if days.contains(day), start <= minute, minute < end { return true }
            return days.contains((day + 6) % 7) && minute + 1_440 < end
        }
    }

    /// The spans; the first one that applies decides.
    public var spans: [Span]

    /// Makes a schedule of spans.
    public init(_ spans: [Span] = []) { self.spans = spans }

    /// The rule for a day of the week, 0 being Monday, at a minute of the day; nil when no span applies.
    public func rule(weekday: Int, minute: Int) -> Rule? {
        spans.first { $0.holds(weekday, minute) }?.rule
    }
}

extension SyncSchedule {
    /// Reads a schedule; an empty text is one without spans.
    ///
    /// - Throws: ``SyncError`` with the code `configuration`, whose message names the word that is wrong.
    public init(parsing text: String) throws(SyncError) {
        var spans: [Span] = []
        for part in text.split(whereSeparator: { $0 == ";" || $0.isNewline }) {
            let words = part.lowercased().split(whereSeparator: \.isWhitespace)
            if !words.isEmpty { spans.append(try Span(words[...])) }
        }
        self.init(spans)
    }
}

extension SyncSchedule.Span {
    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    fileprivate init(_ words: ArraySlice<Substring>) throws(SyncError) {
        var rest = words
        self.init(days: Set(0..<7), start: 0, end: 1_440, rule: .unlimited)
        if rest.count > 1, let word = rest.first, word.first?.isLetter == true, !Self.isRule(word) {
            days = try Self.days(word)
            rest.removeFirst()
        }
        if rest.count > 1, let word = rest.first, !Self.isRule(word) {
            (start, end) = try Self.time(word)
            rest.removeFirst()
        }
        let isLimit = rest.first == "limit"
        if isLimit, rest.count > 1 { rest.removeFirst() }
        switch rest.popFirst() ?? "" {
        case "pause" where !isLimit: rule = .pause
        case "unlimited" where !isLimit: rule = .unlimited
        case let word where !isLimit && words.count > 1 && Self.isPlainNumber(word):
            throw Self.wrong(word, "write a time as 09:00-17:00, or a rate as 500K or 'limit \(word)'")
        case let word:
            guard let rate = ByteRate(String(word)) else {
                throw Self.wrong(
                    word,
                    isLimit
                        ? "'limit' must be followed by a rate such as 500K or 2M"
                        : "a span must end with 'pause', 'unlimited' or a rate such as 500K or 2M")
            }
            rule = .limit(rate.bytesPerSecond)
        }
        if let word = rest.first { throw Self.wrong(word, "nothing may follow; separate spans by ';'") }
    }

    /// Whether a word begins what holds, where it is not the last one.
    private static func isRule(_ word: Substring) -> Bool {
        ["pause", "unlimited", "limit"].contains(word) || ByteRate(String(word)) != nil && !isPlainNumber(word)
    }

    /// Whether a word is a number without a unit, so that it may be meant for a time as well.
    private static func isPlainNumber(_ word: Substring) -> Bool {
        word.utf8.allSatisfy { (48...57).contains($0) || $0 == 46 } && ByteRate(String(word)) != nil
    }

    private static func days(_ word: Substring) throws(SyncError) -> Set<Int> {
        var days: Set<Int> = []
        for part in word.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count <= 2, let first = ends.first, let last = ends.last,
                let start = names.firstIndex(of: String(first)), let end = names.firstIndex(of: String(last))
            else { throw wrong(part, "write days as mon, tue, wed, thu, fri, sat, sun, or mon-fri") }
            for offset in 0...(end - start + 7) % 7 { days.insert((start + offset) % 7) }
        }
        return days
    }

    private static func time(_ word: Substring) throws(SyncError) -> (start: Int, end: Int) {
        let ends = word.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = minute(ends[0]), let end = minute(ends[1]), start < 1_440 else {
            throw wrong(word, "write a time as 09:00-17:00")
        }
        return (start, end > start ? end : end + 1_440)
    }

    /// Minutes since midnight, up to 24:00.
    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ (1...2).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24 && minute < 60 || hour == 24 && minute == 0
        else { return nil }
        return hour * 60 + minute
    }

    private static func wrong(_ word: Substring, _ remedy: String) -> SyncError {
        SyncError(.configuration, "invalid '\(word)' in the schedule; \(remedy)")
    }
}

extension SyncSchedule: CustomStringConvertible {
    /// The spans as they are typed.
    ///
    /// Of a schedule that can be typed, whose spans keep to the ranges of their properties, ``init(parsing:)`` makes the
    /// same schedule again.
    public var description: String { spans.map(\.description).joined(separator: "; ") }
}

extension SyncSchedule.Span: CustomStringConvertible {
    /// As it is typed, without what may be left out.
    public var description: String {
        var words: [String] = []
        if days.count < Self.names.count { words.append(daysText) }
        if start != 0 || end != 1_440 {
            words.append("\(Self.text(start))-\(Self.text(end > 1_440 ? end - 1_440 : end))")
        }
        switch rule {
        case .pause: words.append("pause")
        case .unlimited: words.append("unlimited")
        case .limit(let rate):
            let text = HumanSize.exact(Int64(rate))
            if !words.isEmpty, Self.isPlainNumber(text[...]) { words.append("limit") }
            words.append(text)
        }
        return words.joined(separator: " ")
    }

    private var daysText: String {
        let starts = Self.names.indices.filter { days.contains($0) && !days.contains($0 - 1) }
        let runs = starts.map { start in
            let run = Self.names.indices.dropFirst(start).prefix { days.contains($0) }.map { Self.names[$0] }
            return run.count > 2 ? "\(run[0])-\(run[run.count - 1])" : run.joined(separator: ",")
        }
        return runs.joined(separator: ",")
    }

    private static func text(_ minute: Int) -> String {
        "\(APIDate.two(minute / 60)):\(APIDate.two(minute % 60))"
    }
}
