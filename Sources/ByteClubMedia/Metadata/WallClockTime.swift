/// What a clock and a calendar on a wall show, without a zone (proleptic Gregorian).
struct WallClockTime: Sendable, Hashable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0
    private(set) var nanoseconds = 0

    init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// Reads `2013:08:05 16:40:12.25` and the like: year, month and day, then perhaps hour and minute, then perhaps
    /// seconds, with single signs between them.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard let clock = parts.first, clock.utf8.count <= 40 else { return nil }
        let fields = clock.split(omittingEmptySubsequences: false) { ":-/T ".contains($0) }
        let numbers = fields.compactMap { field -> Int? in
            field.utf8.allSatisfy { (48...57).contains($0) } && field.utf8.count <= 4 ? Int(field) : nil
        }
        guard numbers.count == fields.count, [3, 5, 6].contains(numbers.count) else { return nil }
        self.init(year: numbers[0], month: numbers[1], day: numbers[2])
        if numbers.count > 3 { (hour, minute) = (numbers[3], numbers[4]) }
        if numbers.count > 5 { second = numbers[5] }
        if parts.count > 1 { setFraction(parts[1]) }
    }

    /// The clock at some seconds since 1970.
    init(seconds: Int64) {
        let days = Int((seconds - (seconds % 86400 + 86400) % 86400) / 86400)
        let rest = Int((seconds % 86400 + 86400) % 86400)
        // Years that begin in March, so that the leap day comes last; an era has 400 of them.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        self.init(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, hour: rest / 3600, minute: rest / 60 % 60,
            second: rest % 60)
    }

    /// Takes the digits after a point; anything else is no fraction.
    mutating func setFraction(_ text: Substring) {
        let digits = text.prefix { $0 >= "0" && $0 <= "9" }.prefix(9)
        nanoseconds = Int(digits + String(repeating: "0", count: 9 - digits.count)) ?? 0
    }

    /// Seconds since 1970 as if it were UTC; nil when no clock or calendar shows this.
    var seconds: Int64? {
        guard (1...9999).contains(year), (1...12).contains(month), (1...Self.days(month, of: year)).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        let marchYear = month > 2 ? year : year - 1
        let days =
            365 * marchYear + marchYear / 4 - marchYear / 100 + marchYear / 400 + (153 * ((month + 9) % 12) + 2) / 5
            + day - 719_469
        return Int64(((days * 24 + hour) * 60 + minute) * 60 + second)
    }

    /// `2013:08:05 16:40:12`.
    var exif: String {
        "\(Self.padded(year, 4)):\(Self.padded(month)):\(Self.padded(day)) "
            + "\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))"
    }

    /// `2013-08-05T16:40:12`.
    var iso8601: String {
        "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))"
            + "T\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))"
    }

    static func padded(_ number: Int, _ count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }

    private static func days(_ month: Int, of year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
