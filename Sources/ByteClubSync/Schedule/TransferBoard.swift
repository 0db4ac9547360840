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

    /// How many large files are transferred at once.
    static let slots = 3
    /// How many files are read at once for their hash.
    private static let hashSlots = 1
    /// From how many waiting transfers on no more files are read: their contents would have to be kept or read again.
    private static let readAhead = 8

    private var running: [ItemID: (request: TransferRequest, bytes: Int64)] = [:]
    private var waitingToTravel = Line()
    private var waitingForHash = Line()
    /// How many transfers may run now, as last set.
    private var slots = 0
    /// Items that wait for the schedule.
    private(set) var scheduled: Set<ItemID> = []

    /// Whether nothing is under way.
    var isEmpty: Bool { running.isEmpty }
    /// The items under way.
    var items: Set<ItemID> { Set(running.keys) }
    /// Whether one travels, or waits for the schedule.
    var isPaced: Bool { !scheduled.isEmpty || running.values.contains { $0.request.movesBytes } }
    /// Items that wait for a slot.
    var queued: Set<ItemID> { waitingToTravel.members.union(waitingForHash.members) }
    /// How many bytes of each travelling file are transferred.
    var bytesTransferred: [ItemID: Int64] { running.filter { $0.value.request.movesBytes }.mapValues(\.bytes) }

    /// Whether an item is under way.
    func contains(_ item: ItemID) -> Bool { running[item] != nil }

    /// Admits a request when there is a free slot; `slots` is how many transfers may run now, 0 when the schedule
    /// allows none.
    mutating func admit(_ request: TransferRequest, slots: Int) -> Bool {
        self.slots = slots
        if running[request.item] != nil { return false }
        if request.movesBytes, slots == 0 {
            scheduled.insert(request.item)
            return false
        }
        guard hasPlace(toTravel: request.movesBytes) else {
            if request.movesBytes { waitingToTravel.append(request.item) } else { waitingForHash.append(request.item) }
            return false
        }
        waitingToTravel.remove(request.item)
        waitingForHash.remove(request.item)
        scheduled.remove(request.item)
        running[request.item] = (request, 0)
        return true
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

    /// Removes a transfer that has ended and returns its request.
    mutating func end(_ item: ItemID) -> TransferRequest? { running.removeValue(forKey: item)?.request }

    /// Forgets the waiting ones: the next plan requests them again.
    mutating func forgetWaiting() { (waitingToTravel, waitingForHash, scheduled) = (Line(), Line(), []) }
}
