/// How old the trash is, in days on which the mirror was synced: the only time that no clock can make pass.
///
/// Each date on which the mirror is looked after counts once, however often the clock comes back to it. What lies in the
/// trash of a day ages from the last of them on which something was put there.
struct TrashLedger: Hashable, Sendable {
    /// How many dates are remembered, so that none of them counts twice.
    private static let maximumDates = 400

    /// How many dates have counted.
    private(set) var count = 0
    /// The last of them.
    private var dates: [String] = []
    /// For each day of the trash, how many dates had counted when something was put there last, or it was first seen.
    private var births: [String: Int] = [:]

    /// Reads what ``text`` gave; begins anew with anything else.
    init(_ text: String?) {
        for line in (text ?? "").split(separator: "\n") {
            let parts = line.split(separator: " ")
            switch (parts.first, parts.count) {
            case ("count", 2): count = Int(parts[1]) ?? 0
            case ("date", 2): dates.append(String(parts[1]))
            case ("day", 3): births[String(parts[1])] = Int(parts[2]) ?? .max
            default: continue
            }
        }
    }

    /// The ledger as a value of ``MetaKey/trash``.
    var text: String {
        let days = births.sorted { $0.key < $1.key }.map { "day \($0.key) \($0.value)" }
        return (["count \(count)"] + dates.map { "date \($0)" } + days).joined(separator: "\n")
    }

    /// Notes that the mirror is looked after on a date, and which days the trash has.
    mutating func note(_ date: String, days: [String]) {
        if !dates.contains(date) {
            count += 1
            dates = dates.suffix(Self.maximumDates - 1) + [date]
        }
        births = births.filter { days.contains($0.key) }
        for day in days where births[day] == nil || day == date { births[day] = count }
    }

    /// Notes that something is about to be put into the trash of a day.
    mutating func renew(_ day: String) { births[day] = count }

    /// On how many dates the mirror was looked after since something was put into the trash of a day.
    func age(of day: String) -> Int { max(0, count - (births[day] ?? count)) }
}
