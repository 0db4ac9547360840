import NIOCore

/// Who has which of a server's places, and who gives way when there is none left.
struct ConnectionTable {
    private struct Place {
        let channel: any Channel
        /// Nil for who counts with nobody and never gives way: a trusted proxy.
        let network: IPAddress?
        /// Since when it waits for a request; nil while it has one.
        var idleSince: NIODeadline?
    }

    private let limit: Int
    private let networkLimit: Int
    private var places: [ObjectIdentifier: Place] = [:]
    private var networks: [IPAddress: Int] = [:]

    /// Starts with so many free places, of which one network may have so many.
    init(limit: Int, networkLimit: Int) {
        self.limit = limit
        self.networkLimit = networkLimit
    }

    /// How many are taken.
    var count: Int { places.count }

    /// Gives a newcomer a place when there is one or somebody gives way.
    ///
    /// Only when there is none does this look at all places, and then the newcomer has cost more than that already.
    ///
    /// - Returns: Whether it has one, and the connection that is to go for it.
    mutating func enter(
        _ id: ObjectIdentifier, _ channel: any Channel, of network: IPAddress?, at now: NIODeadline
    ) -> (isServed: Bool, leaving: (any Channel)?) {
        let own = network.map { networks[$0, default: 0] } ?? 0
        var leaving: (any Channel)?
        let isShareUsed = network != nil && own >= networkLimit
        if isShareUsed || places.count >= limit {
            let longest =
                if isShareUsed {
                    longestIdle { $0 == network ? 1 : nil }
                } else {
                    longestIdle { home in
                        let size = networks[home, default: 0] + (home == network ? 1 : 0)
                        return size > own ? size : nil
                    }
                }
            guard let longest else { return (false, nil) }
            leaving = places[longest]?.channel
            leave(longest)
        }
        places[id] = Place(channel: channel, network: network, idleSince: now)
        if let network { networks[network, default: 0] += 1 }
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
        guard let network = places.removeValue(forKey: id)?.network, let size = networks[network] else {
            return
        }
        networks[network] = size > 1 ? size - 1 : nil
    }

    /// Of the idle connections whose network weighs most, the one that has waited longest; a network without a
    /// weight keeps its own.
    private func longestIdle(_ weight: (IPAddress) -> Int?) -> ObjectIdentifier? {
        var longest: (id: ObjectIdentifier, weight: Int, since: NIODeadline)?
        for (id, place) in places {
            guard let network = place.network, let since = place.idleSince, let weight = weight(network) else {
                continue
            }
            if let longest, (longest.weight, since) >= (weight, longest.since) { continue }
            longest = (id, weight, since)
        }
        return longest?.id
    }
}
