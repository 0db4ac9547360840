import NIOCore

/// Who has which of a server's places, and who gives way when there is none left.
struct Places {
    private struct Place {
        let channel: any Channel
        /// Nil for who counts with nobody and never gives way: a trusted proxy.
        let household: IPAddress?
        /// Since when it waits for a request; nil while it has one.
        var idleSince: NIODeadline?
    }

    private let limit: Int
    private let householdLimit: Int
    private var places: [ObjectIdentifier: Place] = [:]
    private var households: [IPAddress: Int] = [:]

    /// Starts with so many free places, of which one household may have so many.
    init(limit: Int, householdLimit: Int) {
        self.limit = limit
        self.householdLimit = householdLimit
    }

    /// How many are taken.
    var count: Int { places.count }

    /// Gives a newcomer a place when there is one or somebody gives way.
    ///
    /// Only when there is none does this look at all places, and then the newcomer has cost more than that already.
    ///
    /// - Returns: Whether it has one, and the connection that is to go for it.
    mutating func enter(
        _ id: ObjectIdentifier, _ channel: any Channel, of household: IPAddress?, at now: NIODeadline
    ) -> (isServed: Bool, leaving: (any Channel)?) {
        let own = household.map { households[$0, default: 0] } ?? 0
        var leaving: (any Channel)?
        let isShareUsed = household != nil && own >= householdLimit
        if isShareUsed || places.count >= limit {
            let longest =
                if isShareUsed {
                    longestIdle { $0 == household ? 1 : nil }
                } else {
                    longestIdle { home in
                        let size = households[home, default: 0] + (home == household ? 1 : 0)
                        return size > own ? size : nil
                    }
                }
            guard let longest else { return (false, nil) }
            leaving = places[longest]?.channel
            leave(longest)
        }
        places[id] = Place(channel: channel, household: household, idleSince: now)
        if let household { households[household, default: 0] += 1 }
        return (true, leaving)
    }

    /// Notes that a request comes; false for a connection without a place.
    mutating func begin(_ id: ObjectIdentifier) -> Bool {
        guard places[id] != nil else { return false }
        places[id]?.idleSince = nil
        return true
    }

    /// Notes that a connection waits for its next request.
    mutating func rest(_ id: ObjectIdentifier, at now: NIODeadline) { places[id]?.idleSince = now }

    /// Takes a connection's place back, if it has one.
    mutating func leave(_ id: ObjectIdentifier) {
        guard let household = places.removeValue(forKey: id)?.household, let size = households[household] else {
            return
        }
        households[household] = size > 1 ? size - 1 : nil
    }

    /// Of the idle connections whose household weighs most, the one that has waited longest; a household without a
    /// weight keeps its own.
    private func longestIdle(_ weight: (IPAddress) -> Int?) -> ObjectIdentifier? {
        var longest: (id: ObjectIdentifier, weight: Int, since: NIODeadline)?
        for (id, place) in places {
            guard let household = place.household, let since = place.idleSince, let weight = weight(household) else {
                continue
            }
            if let longest, (longest.weight, since) >= (weight, longest.since) { continue }
            longest = (id, weight, since)
        }
        return longest?.id
    }
}
