/// The age of the trash in days on which the mirror was synced, which a wrong clock cannot advance.
///
/// Each date of maintenance counts once, however often the clock returns to it. A day of the trash ages from the last
/// date on which something was added to it.
struct TrashLedger: Hashable, Sendable {
    /// A day of the trash, with the number of counted dates when something was last added to it, or it was first seen.
    struct Day: Hashable, Sendable {
        let day: String
        let born: Int64
    }

    /// A counted date, with its number.
    struct SyncDate: Hashable, Sendable {
        let number: Int64
        let date: String
    }

    /// How many dates are remembered, so that none of them counts twice.
    private static let maximumDates = 400

    /// The last counted dates, in their order.
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

    /// Reads it from the database.
    init(_ store: any TreeStore) throws {
        self.init(dates: try store.records(SyncDate.self), days: try store.records(Day.self))
    }

    /// Saves it in the database.
    func save(in store: any TreeStore) throws {
        try store.replace(dates)
        try store.replace(days)
    }

    /// Counts a date of maintenance, and registers the days of the trash.
    mutating func note(_ date: String, days: [String]) {
        if !dates.contains(where: { $0.date == date }) {
            dates = dates.suffix(Self.maximumDates - 1) + [SyncDate(number: count + 1, date: date)]
        }
        births = births.filter { days.contains($0.key) }
        for day in days where births[day] == nil || day == date { births[day] = count }
    }

    /// Notes that something is about to be put into the trash of a day.
    mutating func renew(_ day: String) { births[day] = count }

    /// The number of counted dates since something was last added to the trash of a day.
    func age(of day: String) -> Int64 { max(0, count - (births[day] ?? count)) }
}
