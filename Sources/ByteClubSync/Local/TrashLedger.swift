/// How old the trash is, in days on which the mirror was synced: the only time that no clock can make pass.
///
/// Each date on which the mirror is looked after counts once, however often the clock comes back to it. What lies in the
/// trash of a day ages from the last of them on which something was put there.
struct TrashLedger: Hashable, Sendable {
    /// A day of the trash, and how many dates had counted when something was put there last, or it was first seen.
    struct Day: Hashable, Sendable {
        let day: String
        let born: Int64
    }

    /// A date that has counted, with its number.
    struct SyncDate: Hashable, Sendable {
        let number: Int64
        let date: String
    }

    /// How many dates are remembered, so that none of them counts twice.
    private static let maximumDates = 400

    /// The last dates that have counted, in their order.
    private(set) var dates: [SyncDate]
    private var births: [String: Int64]

    /// How many dates have counted.
    var count: Int64 { dates.last?.number ?? 0 }
    /// The days of the trash, in their order.
    var days: [Day] { births.sorted { $0.key < $1.key }.map { Day(day: $0.key, born: $0.value) } }

    init(dates: [SyncDate] = [], days: [Day] = []) {
        self.dates = dates
        births = Dictionary(days.map { ($0.day, $0.born) }, uniquingKeysWith: { $1 })
    }

    /// Reads what the database keeps.
    init(_ store: any TreeStore) throws {
        self.init(dates: try store.records(SyncDate.self), days: try store.records(Day.self))
    }

    /// Keeps it in the database.
    func save(in store: any TreeStore) throws {
        try store.replace(dates)
        try store.replace(days)
    }

    /// Notes that the mirror is looked after on a date, and which days the trash has.
    mutating func note(_ date: String, days: [String]) {
        if !dates.contains(where: { $0.date == date }) {
            dates = dates.suffix(Self.maximumDates - 1) + [SyncDate(number: count + 1, date: date)]
        }
        births = births.filter { days.contains($0.key) }
        for day in days where births[day] == nil || day == date { births[day] = count }
    }

    /// Notes that something is about to be put into the trash of a day.
    mutating func renew(_ day: String) { births[day] = count }

    /// On how many dates the mirror was looked after since something was put into the trash of a day.
    func age(of day: String) -> Int64 { max(0, count - (births[day] ?? count)) }
}
