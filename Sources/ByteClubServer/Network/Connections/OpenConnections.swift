import NIOCore
import Synchronization

/// Counts the connections of a server and their bytes, and shares the places among the networks.
///
/// A network has at most an eighth of the places. When its share or all places are used up, the connection that has
/// been idle longest is closed: first in the newcomer's network, then in the network with the most connections, unless
/// that has fewer than the newcomer's. So idle connections cannot keep others out.
final class OpenConnections: Sendable {
    /// How many refused connections may wait for the client to read the answer; further ones are closed right after it.
    static let courtesy = 64
    /// A network may have the places divided by this.
    static let networkDivisor = 8
    /// The places that a network may have however few there are: a browser opens six, a mirror fewer.
    static let leastForNetwork = 8

    /// The decision about a new connection.
    enum Admission: Sendable {
        /// It has a place.
        case served
        /// It has none, and gets an answer.
        case refused
        /// It has none, and too many others are being refused to wait until the client has read the answer.
        case turnedAway
    }

    /// The most connections that are served at once.
    let limit: Int
    /// The most of them that one network may have.
    let networkLimit: Int
    private let trusted: [AddressRange]
    private let places: Mutex<ConnectionTable>
    private let count = Atomic<Int>(0)
    private let refused = Atomic<Int64>(0)
    private let displaced = Atomic<Int64>(0)
    private let bytesIn = Atomic<Int64>(0)
    private let bytesOut = Atomic<Int64>(0)
    private let draining = Atomic<Bool>(false)

    /// Starts without any.
    ///
    /// - Parameters:
    ///   - limit: The most connections that are served at once.
    ///   - networkLimit: The most of one network; an eighth of all unless given.
    ///   - trusted: The proxies, which carry the requests of many and are no network.
    init(limit: Int, networkLimit: Int? = nil, trusting trusted: [AddressRange] = []) {
        self.limit = limit
        self.networkLimit =
            networkLimit ?? min(limit, max(Self.leastForNetwork, limit / Self.networkDivisor))
        self.trusted = trusted
        places = Mutex(ConnectionTable(limit: limit, networkLimit: self.networkLimit))
    }

    /// Counts a connection until its channel is closed, and gives it a place when there is one.
    func admit(_ channel: any Channel) -> Admission {
        let open = count.wrappingAdd(1, ordering: .relaxed).newValue
        let id = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { _ in
            self.places.withLock { $0.leave(id) }
            self.count.wrappingSubtract(1, ordering: .relaxed)
        }
        let address = IPAddress(channel.remoteAddress)
        let isProxy = address.map { address in trusted.contains { $0.contains(address) } } ?? true
        let (isServed, leaving, taken) = places.withLock { places in
            let (isServed, leaving) = places.enter(id, channel, of: isProxy ? nil : address?.network, at: .now())
            return (isServed, leaving, places.count)
        }
        if let leaving {
            displaced.wrappingAdd(1, ordering: .relaxed)
            leaving.triggerUserOutboundEvent(Eviction(), promise: nil)
        }
        if isServed { return .served }
        refused.wrappingAdd(1, ordering: .relaxed)
        return open - taken > Self.courtesy ? .turnedAway : .refused
    }

    /// Notes that a request begins on a connection; false when that was evicted just before.
    func begin(_ channel: any Channel) -> Bool { places.withLock { $0.begin(ObjectIdentifier(channel)) } }

    /// Notes that a connection waits for its next request.
    func rest(_ channel: any Channel, at now: NIODeadline) {
        places.withLock { $0.rest(ObjectIdentifier(channel), at: now) }
    }

    /// Counts bytes that came in.
    func received(_ bytes: Int) { bytesIn.wrappingAdd(Int64(bytes), ordering: .relaxed) }

    /// Counts bytes that went out.
    func sent(_ bytes: Int) { bytesOut.wrappingAdd(Int64(bytes), ordering: .relaxed) }

    /// Notes that the server is stopping.
    func beginDraining() { draining.store(true, ordering: .relaxed) }

    /// Whether the server is stopping.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// The open connections, including those that are being refused.
    var open: Int { count.load(ordering: .relaxed) }

    /// The totals since the start; `displaced` are the evicted connections.
    var totals: (refused: Int64, displaced: Int64, received: Int64, sent: Int64) {
        (
            refused.load(ordering: .relaxed), displaced.load(ordering: .relaxed), bytesIn.load(ordering: .relaxed),
            bytesOut.load(ordering: .relaxed)
        )
    }
}

/// The event by which a connection learns that another one gets its place.
struct Eviction: Sendable {}

/// The places of a server and their connections, and the choice of the one to evict when all are used.
struct ConnectionTable {
    private struct Place {
        let channel: any Channel
        /// Nil for a trusted proxy, which belongs to no network and is never evicted.
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

    /// The number of connections with a place.
    var count: Int { places.count }

    /// Gives a newcomer a place when one is free or another connection can be evicted.
    ///
    /// It searches all places only when none is free, and then the newcomer has already cost more than that.
    ///
    /// - Returns: Whether it has a place, and the connection to evict for it.
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

    /// Notes that a request begins; false for a connection without a place.
    mutating func begin(_ id: ObjectIdentifier) -> Bool {
        guard places[id] != nil else { return false }
        places[id]?.idleSince = nil
        return true
    }

    /// Notes that a connection waits for its next request.
    mutating func rest(_ id: ObjectIdentifier, at now: NIODeadline) { places[id]?.idleSince = now }

    /// Frees a connection's place, if it has one.
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
