/// A request to transfer or hash a large file in the background.
struct TransferRequest: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case upload
        case download(to: Location)
        /// Read it for its hash and its chunks.
        case hash
    }

    let item: ItemID
    let kind: Kind

    /// Whether it moves bytes over the network, so that schedule and limits apply.
    var movesBytes: Bool { kind != .hash }
}

/// Which large files are being transferred and which wait for a slot.
struct TransferBoard: Sendable {
    /// Items in the order of their requests.
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

    /// How many large files are transferred at once.
    static let slots = 3
    /// How many files are read at once for their hash.
    private static let hashSlots = 1
    /// From how many waiting transfers on no file is hashed: it would have to be read again for its own transfer.
    private static let readAhead = 8

    private var running: [ItemID: (request: TransferRequest, bytes: Int64)] = [:]
    private var waitingToTravel = Line()
    private var waitingForHash = Line()
    /// How many transfers may run now, as last set.
    private var slots = 0
    /// When the rate limits or the schedule change next; nil when they stay.
    private var paceEnds: SyncInstant?
    /// Items that wait for the schedule.
    private(set) var scheduled: Set<ItemID> = []
    /// Admitted requests that the session has not started yet.
    private var starts: [TransferRequest] = []
    /// Transfers that have ended and whose result is not handled yet, in the order of their ends.
    private var ended: [(item: ItemID, result: TransferResult)] = []

    /// Whether nothing is under way.
    var isEmpty: Bool { running.isEmpty }
    /// The items under way.
    var items: Set<ItemID> { Set(running.keys) }
    /// When the transfers that travel or wait for the schedule need another pace; nil when there are none.
    var deadline: SyncInstant? {
        !scheduled.isEmpty || running.values.contains { $0.request.movesBytes } ? paceEnds : nil
    }
    /// Items that wait for a slot.
    var queued: Set<ItemID> { waitingToTravel.members.union(waitingForHash.members) }
    /// How many bytes of each travelling file are transferred.
    var bytesTransferred: [ItemID: Int64] { running.filter { $0.value.request.movesBytes }.mapValues(\.bytes) }

    /// Whether an item is under way.
    func contains(_ item: ItemID) -> Bool { running[item] != nil }

    /// Admits the requests for which there is a free slot, and lets the others wait.
    ///
    /// `slots` is how many transfers may run until `paceEnds`, 0 when the schedule allows none.
    mutating func request(_ requests: [TransferRequest], slots: Int, until paceEnds: SyncInstant?) {
        self.paceEnds = paceEnds
        if !requests.isEmpty { self.slots = slots }
        for request in requests where running[request.item] == nil {
            if request.movesBytes, slots == 0 {
                scheduled.insert(request.item)
            } else if hasPlace(toTravel: request.movesBytes) {
                waitingToTravel.remove(request.item)
                waitingForHash.remove(request.item)
                scheduled.remove(request.item)
                running[request.item] = (request, 0)
                starts.append(request)
            } else if request.movesBytes {
                waitingToTravel.append(request.item)
            } else {
                waitingForHash.append(request.item)
            }
        }
    }

    private func hasPlace(toTravel movesBytes: Bool) -> Bool {
        let isAhead = !movesBytes && waitingToTravel.members.count >= Self.readAhead
        return !isAhead
            && running.count { $0.value.request.movesBytes == movesBytes } < (movesBytes ? slots : Self.hashSlots)
    }

    /// Removes the next waiting item for which there is a free slot; it is planned again, since it may have changed.
    mutating func nextWaiting() -> ItemID? {
        if hasPlace(toTravel: true), let item = waitingToTravel.popFirst() { return item }
        return hasPlace(toTravel: false) ? waitingForHash.popFirst() : nil
    }

    /// Records a transfer's progress; ignored for one that has ended.
    mutating func note(_ item: ItemID, bytes: Int64) { running[item]?.bytes = bytes }

    /// Removes and returns the admitted requests that are to be started; nil when there are none.
    mutating func takeStarts() -> [TransferRequest]? {
        if starts.isEmpty { return nil }
        defer { starts = [] }
        return starts
    }

    /// Forgets the admitted requests that were not started: the next plan requests them again.
    mutating func dropStarts() {
        for request in starts { forget(request.item) }
        starts = []
    }

    /// Keeps the result of a transfer until it is handled; the transfer counts as under way until then.
    ///
    /// - Returns: Whether it was under way; a late result of a forgotten transfer is dropped.
    mutating func end(_ item: ItemID, _ result: TransferResult) -> Bool {
        if running[item] == nil { return false }
        ended.append((item, result))
        return true
    }

    /// Removes the transfer that ended first and returns its result; nil when there is none.
    mutating func takeResult() -> (item: ItemID, result: TransferResult)? {
        if ended.isEmpty { return nil }
        let first = ended.removeFirst()
        forget(first.item)
        return first
    }

    /// Removes a transfer that is not under way any more.
    mutating func forget(_ item: ItemID) { running[item] = nil }

    /// Forgets the waiting ones: the next plan requests them again.
    mutating func forgetWaiting() { (waitingToTravel, waitingForHash, scheduled) = (Line(), Line(), []) }
}

/// How many bytes of photos one step moves: about as many as the connection carries in a second, so that no note waits
/// long behind photos.
struct GroupPace: Hashable, Sendable {
    private static let least: Int64 = 1 << 20
    private static let most: Int64 = 64 << 20
    /// How many times as much the next step moves at most.
    private static let growth: Int64 = 4

    /// The most bytes of the next step; a larger photo travels alone.
    private(set) var bytes: Int64 = 8 << 20

    /// Notes how many bytes a step has moved in which time; too few bytes are no measure.
    mutating func note(_ moved: Int64, lasting: Duration) {
        if moved < Self.least / 2 { return }
        let seconds = Double(lasting.components.seconds) + Double(lasting.components.attoseconds) / 1e18
        let carried = Double(moved) / max(seconds, 0.001)
        bytes = max(Self.least, min(Self.most, bytes * Self.growth, Int64(min(carried, 1e12))))
    }
}
