/// The moment at which a photo was taken, as exactly as its file has it.
public struct PhotoTime: Sendable, Hashable {
    /// The source of the time.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// EXIF DateTimeOriginal, or DateTimeDigitized.
        case exif
        /// The satellites' clock in EXIF's GPS tags.
        case gps
        /// A date in the XMP packet.
        case xmp
        /// The file's name.
        case fileName
    }

    /// Seconds since 1970; by UTC when `zone` is known, else by the camera's own clock.
    public let seconds: Int64
    /// Billionths of a second after that, 0 to 999,999,999.
    public let nanoseconds: Int
    /// The local time's distance from UTC in seconds, east is positive, within 14 hours; nil when unknown.
    public let zone: Int?
    /// The source of the time.
    public internal(set) var source: Source
}

extension PhotoTime {
    /// The moment of a wall clock; nil when no clock shows that.
    init?(clock: WallClockTime?, zone: Int?, source: Source) {
        guard let clock, let seconds = clock.seconds else { return nil }
        let zone = zone.flatMap { abs($0) <= 14 * 3600 ? $0 : nil }
        self.init(
            seconds: seconds - Int64(zone ?? 0), nanoseconds: clock.nanoseconds, zone: zone, source: source)
    }

    /// The moment of `2013:08:05 16:40:12` with the parts that EXIF keeps apart.
    init?(exif text: String?, fraction: String? = nil, zone: String? = nil, source: Source = .exif) {
        // A day alone is no moment in EXIF.
        guard let text, text.utf8.count >= 19, var clock = WallClockTime(text) else { return nil }
        if let fraction { clock.setFraction(fraction[...]) }
        self.init(clock: clock, zone: zone.flatMap { Self.seconds(ofZone: $0[...]) }, source: source)
    }

    /// The moment of XMP's `2013-08-05T16:40:12.25+02:00` (ISO 16684-1, 8.2.1.1); a day alone is its midnight.
    init?(iso8601 text: String) {
        var clock = text[...]
        var zone: Substring?
        if let mark = clock.firstIndex(where: { $0 == "T" || $0 == " " }),
            let start = clock[mark...].firstIndex(where: { $0 == "Z" || $0 == "+" || $0 == "-" })
        {
            zone = clock[start...]
            clock = clock[..<start]
        }
        self.init(
            clock: WallClockTime(String(clock)), zone: zone.flatMap { Self.seconds(ofZone: $0) }, source: .xmp)
    }

    /// The seconds of `+02:00` or `Z`.
    private static func seconds(ofZone text: Substring) -> Int? {
        if text == "Z" { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let parts = text.dropFirst().split(separator: ":")
        let numbers = parts.map { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) ?? -1 : -1 }
        guard numbers.count == 2, (0...14).contains(numbers[0]), (0...59).contains(numbers[1]) else { return nil }
        return (numbers[0] * 3600 + numbers[1] * 60) * (sign == "-" ? -1 : 1)
    }

    /// This moment with the zone that makes its clock agree with the satellites', to a quarter of an hour as zones are.
    func zoned(by satellites: PhotoTime?) -> PhotoTime {
        guard zone == nil, let satellites else { return self }
        let distance = seconds - satellites.seconds
        let quarters = (Double(distance) / 900).rounded()
        // A larger difference means a wrong camera clock, or a place found long before.
        guard abs(quarters) <= 56, abs(Double(distance) - quarters * 900) <= 180 else { return self }
        let zone = Int(quarters) * 900
        return PhotoTime(seconds: seconds - Int64(zone), nanoseconds: nanoseconds, zone: zone, source: source)
    }

    /// As EXIF writes the clock's date.
    var exifDate: String { WallClockTime(seconds: seconds + Int64(zone ?? 0)).exif }

    /// As XMP writes the clock's date, without its zone: `2013-08-05T16:40:12.250`.
    var xmpDate: String {
        let clock = WallClockTime(seconds: seconds + Int64(zone ?? 0)).iso8601
        return clock + (exifFraction.map { "." + $0 } ?? "")
    }

    /// As EXIF writes the part of a second, in thousandths; nil when there is none.
    var exifFraction: String? {
        nanoseconds >= 1_000_000 ? WallClockTime.padded(nanoseconds / 1_000_000, 3) : nil
    }
}

extension PhotoTime {
    /// The moment in a file's name, in the forms of cameras, phones and messengers: `IMG_20240131_153000.jpg`,
    /// `PXL_20231218_133224899.jpg`, `2024-01-31 15.30.00.jpg`, `IMG-20240131-WA0001.jpg` (a day, its midnight).
    ///
    /// nil when the name has no such digits, or they are no date from 1900 to 2099.
    init?(fileName: String) {
        let runs = Self.digitRuns(in: fileName)
        for index in runs.indices {
            guard var clock = Self.day(runs, index) else { continue }
            let next = index + (runs[index].digits.count >= 8 ? 0 : 2)
            Self.addTime(runs, after: next, to: &clock)
            // Pixel phones name by UTC, the others by the clock on their screen.
            let isUTC = fileName.hasPrefix("PXL_")
            self.init(clock: clock, zone: isUTC ? 0 : nil, source: .fileName)
            return
        }
        return nil
    }

    /// Digits in a row, and the text between them and the row before.
    private struct Run {
        let digits: Substring
        let before: Substring

        func number(_ range: Range<Int>) -> Int {
            let start = digits.index(digits.startIndex, offsetBy: range.lowerBound)
            let end = digits.index(digits.startIndex, offsetBy: range.upperBound)
            return Int(digits[start..<end]) ?? 0
        }
    }

    private static func digitRuns(in name: String) -> [Run] {
        var runs: [Run] = []
        var rest = name.prefix(255)
        while let start = rest.firstIndex(where: isDigit), runs.count < 32 {
            let end = rest[start...].firstIndex { !isDigit($0) } ?? rest.endIndex
            runs.append(Run(digits: rest[start..<end], before: rest[..<start]))
            rest = rest[end...]
        }
        return runs
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) && character.isASCII }

    private static func day(_ runs: [Run], _ index: Int) -> WallClockTime? {
        let first = runs[index]
        var clock: WallClockTime?
        if [8, 14, 17].contains(first.digits.count) {
            clock = WallClockTime(year: first.number(0..<4), month: first.number(4..<6), day: first.number(6..<8))
        } else if first.digits.count == 4, index + 2 < runs.count, isPart(runs[index + 1]), isPart(runs[index + 2]) {
            clock = WallClockTime(
                year: first.number(0..<4), month: runs[index + 1].number(0..<2), day: runs[index + 2].number(0..<2))
        }
        guard let clock, (1900...2099).contains(clock.year), clock.seconds != nil else { return nil }
        return clock
    }

    /// Adds the time of the day when it follows at `index`, within its run or in the next ones.
    private static func addTime(_ runs: [Run], after index: Int, to day: inout WallClockTime) {
        var clock = day
        if runs[index].digits.count >= 14 {
            let run = runs[index]
            (clock.hour, clock.minute, clock.second) = (run.number(8..<10), run.number(10..<12), run.number(12..<14))
            clock.setFraction(run.digits.dropFirst(14))
        } else if index + 1 < runs.count, runs[index + 1].before.count <= 4,
            [6, 9].contains(runs[index + 1].digits.count)
        {
            let run = runs[index + 1]
            (clock.hour, clock.minute, clock.second) = (run.number(0..<2), run.number(2..<4), run.number(4..<6))
            clock.setFraction(run.digits.dropFirst(6))
        } else if index + 3 < runs.count, runs[index + 1].digits.count == 2, runs[index + 1].before.count <= 4,
            isPart(runs[index + 2]), isPart(runs[index + 3])
        {
            clock.hour = runs[index + 1].number(0..<2)
            clock.minute = runs[index + 2].number(0..<2)
            clock.second = runs[index + 3].number(0..<2)
        }
        if clock.seconds != nil { day = clock }
    }

    /// Whether two digits follow the digits before after one sign.
    private static func isPart(_ run: Run) -> Bool { run.digits.count == 2 && run.before.count == 1 }
}

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
        // Years that begin in March, so that the leap day is the last; an era has 400 of them.
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

    /// Sets the fraction from the digits after a point; other texts are ignored.
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
