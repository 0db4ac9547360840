/// A large file that is to travel, or to be read, beside other work.
struct TransferRequest: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case upload
        case download(to: Place)
        /// Read to its end, for its hash and its chunks.
        case hash
    }

    let item: ItemID
    let kind: Kind

    /// Whether it moves bytes between the machines, so that schedule and limits concern it.
    var travels: Bool { kind != .hash }
}

/// Which large files are under way and which wait for a place.
struct TransferBoard: Sendable {
    /// Items in the order in which they came.
    private struct Line: Sendable {
        private var order: [ItemID] = []
        private var start = 0
        private(set) var members: Set<ItemID> = []

        mutating func append(_ item: ItemID) { if members.insert(item).inserted { order.append(item) } }

        mutating func remove(_ item: ItemID) { members.remove(item) }

        mutating func popFirst() -> ItemID? {
            while start < order.count {
                defer { start += 1 }
                if let item = members.remove(order[start]) { return item }
            }
            (order, start) = ([], 0)
            return nil
        }
    }

    /// How many large files travel at once, beside the notes.
    static let places = 3
    /// How many files are read at once for their hash.
    private static let hashPlaces = 1
    /// From how many files on that wait to travel no more are read: what was read would have to be kept or read again.
    private static let readAhead = 8

    private var running: [ItemID: (request: TransferRequest, bytes: Int64)] = [:]
    private var waitingToTravel = Line()
    private var waitingForHash = Line()
    /// How many files may travel now, as was said last.
    private var places = 0
    /// Those that the schedule does not let travel now.
    private(set) var scheduled: Set<ItemID> = []

    /// Whether nothing is under way.
    var isEmpty: Bool { running.isEmpty }
    /// The items under way.
    var items: Set<ItemID> { Set(running.keys) }
    /// Those for which there is no place now.
    var queued: Set<ItemID> { waitingToTravel.members.union(waitingForHash.members) }
    /// How many bytes of each travelling file have travelled.
    var travelled: [ItemID: Int64] { running.filter { $0.value.request.travels }.mapValues(\.bytes) }

    /// Whether an item is under way.
    func contains(_ item: ItemID) -> Bool { running[item] != nil }

    /// Admits a request when there is a place; `places` is how many files may travel now, 0 when the schedule says none.
    mutating func admit(_ request: TransferRequest, places: Int) -> Bool {
        self.places = places
        if running[request.item] != nil { return false }
        if request.travels, places == 0 {
            scheduled.insert(request.item)
            return false
        }
        guard hasPlace(toTravel: request.travels) else {
            if request.travels { waitingToTravel.append(request.item) } else { waitingForHash.append(request.item) }
            return false
        }
        waitingToTravel.remove(request.item)
        waitingForHash.remove(request.item)
        scheduled.remove(request.item)
        running[request.item] = (request, 0)
        return true
    }

    private func hasPlace(toTravel travels: Bool) -> Bool {
        let isAhead = !travels && waitingToTravel.members.count >= Self.readAhead
        return !isAhead && running.count { $0.value.request.travels == travels } < (travels ? places : Self.hashPlaces)
    }

    /// Takes the next item out of the line for which there is a place now; it is planned anew, since it may have changed.
    mutating func nextWaiting() -> ItemID? {
        if hasPlace(toTravel: true), let item = waitingToTravel.popFirst() { return item }
        return hasPlace(toTravel: false) ? waitingForHash.popFirst() : nil
    }

    /// Notes how far a file has come; nothing for one that has ended.
    mutating func note(_ item: ItemID, bytes: Int64) { running[item]?.bytes = bytes }

    /// Notes that a file's way has ended; `request` is what it was to be.
    mutating func end(_ item: ItemID) -> TransferRequest? { running.removeValue(forKey: item)?.request }

    /// Forgets who waits: the next plan asks for all of them again.
    mutating func forgetWaiting() { (waitingToTravel, waitingForHash, scheduled) = (Line(), Line(), []) }
}
