extension PhotoTime {
    /// The moment that a file's name tells, as cameras, phones and messengers write it: `IMG_20240131_153000.jpg`,
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

    /// Digits in a row, and what stands between them and the row before.
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
