import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// How fast a store is: what it does with a mirror of so many files, in folders of a hundred.
struct StoreRates {
    /// Items kept a second: new ones from the server, then as both sides have them.
    var inserts = 0.0
    var updates = 0.0
    /// Items read a second, by folder and by identity.
    var children = 0.0
    var lookups = 0.0
    /// Searches for a name a second.
    var namesakes = 0.0
    /// Small commits a second.
    var commits = 0.0

    static let filesInFolder = 100

    /// Fills an empty store and measures.
    static func measure(_ store: any TreeStore, files: Int) throws -> StoreRates {
        var rates = StoreRates()
        let clock = ContinuousClock()
        func rate(_ count: Int, _ work: () throws -> Void) rethrows -> Double {
            let time = try clock.measure(work) / .seconds(1)
            return Double(count) / time
        }
        rates.inserts = try rate(files) {
            for start in stride(from: 0, to: files, by: 10_000) {
                try store.transaction(durably: false) {
                    for number in start..<min(start + 10_000, files) {
                        try store.save(item(number, try store.newItem()))
                    }
                }
            }
        }
        rates.updates = try rate(files) {
            for start in stride(from: 0, to: files, by: 10_000) {
                try store.transaction(durably: false) {
                    for number in start..<min(start + 10_000, files) { try store.save(synced(number)) }
                }
            }
        }
        var found = 0
        rates.children = try rate(files) {
            try store.transaction(durably: false) {
                for folder in 0..<files / filesInFolder {
                    found += try store.children(of: ItemID(Int64(folder) + 1), on: .remote).count
                }
            }
        }
        if found != files { throw SyncError(.database, "\(found) of \(files) items found") }
        rates.lookups = try rate(files) {
            try store.transaction(durably: false) {
                for number in 1...files { found += try store.item(ItemID(Int64(number))) == nil ? 0 : 1 }
            }
        }
        rates.namesakes = try rate(files) {
            try store.transaction(durably: false) {
                for number in 0..<files {
                    let location = location(number)
                    found += try store.children(of: location.parent, key: location.name.key, on: .local).count
                }
            }
        }
        rates.commits = try rate(5_000) {
            for number in 0..<5_000 { try store.transaction(durably: false) { try store.save(synced(number % files)) } }
        }
        return rates
    }

    private static func location(_ number: Int) -> Location {
        Location(ItemID(Int64(number / filesInFolder) + 1), EntryName("a note about something \(number).md"))
    }

    private static func item(_ number: Int, _ id: ItemID) -> Item {
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 8)) }
        return Item(
            id,
            remote: RemoteState(
                node: EntryID(Int64(number) + 1), location: location(number), isFolder: false,
                hash: ContentHash(bytes: bytes),
                size: 4_096, revision: .number(Int64(number) + 1), generation: 1))
    }

    /// The items have been numbered from 1.
    private static func synced(_ number: Int) -> Item {
        var item = item(number, ItemID(Int64(number) + 1))
        guard let remote = item.remote else { return item }
        let time = 1_790_000_000_123_456_789 &+ item.id.number
        item.local = LocalState(
            location: remote.location, isFolder: false, hash: remote.hash, size: remote.size,
            stat: FileStat(
                handle: FileHandle(high: 77, low: UInt64(item.id.number) << 32 | 5),
                fingerprint: FileFingerprint(
                    device: 2_049, inode: 1_000_000 + item.id.number, size: remote.size, modified: time, changed: time))
        )
        item.base = SyncedState(
            location: remote.location, isFolder: false, hash: remote.hash, size: remote.size, revision: remote.revision)
        return item
    }
}

extension StoreRates: CustomStringConvertible {
    var description: String {
        [
            ("inserts", inserts), ("updates", updates), ("children", children), ("lookups", lookups),
            ("namesakes", namesakes), ("commits", commits),
        ].map { "\($0.0) \(Int($0.1))/s" }.joined(separator: ", ")
    }
}
