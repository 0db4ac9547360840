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
    /// How many large files travel at once, beside the notes.
    static let places = 3
    /// How many files are read at once for their hash.
    private static let hashPlaces = 1

    private var running: [ItemID: (request: TransferRequest, bytes: Int64)] = [:]
    /// Those for which there is no place now.
    private(set) var queued: Set<ItemID> = []
    /// Those that the schedule does not let travel now.
    private(set) var scheduled: Set<ItemID> = []

    /// Whether nothing is under way.
    var isEmpty: Bool { running.isEmpty }
    /// The items under way.
    var items: Set<ItemID> { Set(running.keys) }
    /// How many bytes of each travelling file have travelled.
    var travelled: [ItemID: Int64] { running.filter { $0.value.request.travels }.mapValues(\.bytes) }

    /// Whether an item is under way.
    func contains(_ item: ItemID) -> Bool { running[item] != nil }

    /// Admits a request when there is a place; `places` is how many files may travel now, 0 when the schedule says none.
    mutating func admit(_ request: TransferRequest, places: Int) -> Bool {
        if running[request.item] != nil { return false }
        let limit = request.travels ? places : Self.hashPlaces
        if limit == 0 {
            scheduled.insert(request.item)
            return false
        }
        guard running.count(where: { $0.value.request.travels == request.travels }) < limit else {
            queued.insert(request.item)
            return false
        }
        (queued, scheduled) = (queued.subtracting([request.item]), scheduled.subtracting([request.item]))
        running[request.item] = (request, 0)
        return true
    }

    /// Notes how far a file has come; nothing for one that has ended.
    mutating func note(_ item: ItemID, bytes: Int64) { running[item]?.bytes = bytes }

    /// Notes that a file's way has ended; `request` is what it was to be.
    mutating func end(_ item: ItemID) -> TransferRequest? { running.removeValue(forKey: item)?.request }

    /// Forgets who waits: the next plan asks for all of them again.
    mutating func forgetWaiting() { (queued, scheduled) = ([], []) }
}
