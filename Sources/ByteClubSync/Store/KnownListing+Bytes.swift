/// A known listing as a blob: both halves of the fingerprint, then each folder's item number, name length and name.
extension KnownListing {
    /// Reads ``bytes``; nil for anything else.
    init?(bytes: [UInt8]) {
        var rest = bytes[...]
        func number() -> UInt64? {
            guard rest.count >= 8 else { return nil }
            defer { rest = rest.dropFirst(8) }
            return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard let high = number(), let low = number() else { return nil }
        var folders: [ListedFolder] = []
        while !rest.isEmpty {
            guard let item = number(), let count = number(), count <= UInt64(rest.count) else { return nil }
            let name = String(decoding: rest.prefix(Int(count)), as: UTF8.self)
            folders.append(ListedFolder(item: ItemID(Int64(bitPattern: item)), name: name))
            rest = rest.dropFirst(Int(count))
        }
        self.init(high: high, low: low, folders: folders)
    }

    /// The listing as a blob.
    var bytes: [UInt8] {
        var result: [UInt8] = []
        func add(_ number: UInt64) {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                result.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        add(high)
        add(low)
        for folder in folders {
            add(UInt64(bitPattern: folder.item.number))
            add(UInt64(folder.name.utf8.count))
            result += folder.name.utf8
        }
        return result
    }
}
