import HTTPTypes

/// The entries of a cache by URL, and the order in which they are evicted.
struct CacheIndex {
    struct Entry {
        var stored: StoredResponse
        /// The body, while it is in memory.
        var bytes: [UInt8]?
        let length: Int
        /// Whether the body is in its file.
        var isOnDisk = false
        /// Whether its file is still to be written.
        var isPending = false
        /// The value of the use counter when the entry was last used.
        var used: UInt64

        /// The approximate size of the entry with its body, in bytes.
        var size: Int {
            let selectors = stored.selectors.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) + 32 }
            return stored.response.headerFields.reduce(length + 256 + stored.url.utf8.count + selectors) {
                $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 32
            }
        }
    }

    /// The maximum number of entries.
    static let mostEntries = 8192
    /// The maximum number of bytes waiting to be written.
    static let mostPendingBytes = 8 << 20

    let memoryLimit: Int
    let diskLimit: Int
    private(set) var entries: [UInt64: Entry] = [:]
    private(set) var memoryBytes = 0
    private(set) var diskBytes = 0
    private(set) var pendingBytes = 0
    /// Removed entries whose files still exist.
    private(set) var garbage: [UInt64] = []
    private var ids: [String: [UInt64]] = [:]
    private var clock: UInt64 = 0
    private var lastID: UInt64 = 0

    init(memoryLimit: Int, diskLimit: Int) {
        self.memoryLimit = max(memoryLimit, 0)
        self.diskLimit = max(diskLimit, 0)
    }

    /// The entries for a URL, newest first.
    func candidates(for url: String) -> [UInt64] { (ids[url] ?? []).reversed() }

    /// The entries that match a condition, in any order.
    ///
    /// The result never shares the storage of ``entries``, as a filtered dictionary would: the next change would have
    /// to copy it whole.
    func entries(where isWanted: (Entry) -> Bool) -> [(id: UInt64, entry: Entry)] {
        entries.compactMap { isWanted($0.value) ? ($0.key, $0.value) : nil }
    }

    func isTooLarge(_ length: Int) -> Bool { length > max(memoryLimit, diskLimit) / 8 }

    /// Stores a response and removes the entries that the same request would have matched.
    mutating func insert(_ stored: StoredResponse, bytes: [UInt8], maySave: Bool) {
        for id in candidates(for: stored.url) where entries[id]?.stored.selectors == stored.selectors { remove(id) }
        if isTooLarge(bytes.count) { return }
        clock += 1
        var entry = Entry(stored: stored, bytes: bytes, length: bytes.count, used: clock)
        entry.isPending = maySave && diskLimit > 0 && pendingBytes + bytes.count <= Self.mostPendingBytes
        lastID += 1
        add(entry, as: lastID)
    }

    /// Adds an entry read from the index file.
    mutating func restore(_ stored: StoredResponse, id: UInt64, length: Int) {
        guard entries[id] == nil, id > 0, id < 1 << 62, length >= 0, length <= diskLimit else { return }
        clock += 1
        lastID = max(lastID, id)
        add(Entry(stored: stored, bytes: nil, length: length, isOnDisk: true, used: clock), as: id)
    }

    mutating func use(_ id: UInt64) {
        clock += 1
        entries[id]?.used = clock
    }

    /// Keeps a body that was read from its file in memory as well.
    mutating func promote(_ id: UInt64, bytes: [UInt8]) {
        guard var entry = entries[id], entry.bytes == nil, bytes.count <= memoryLimit / 8 else { return }
        entry.bytes = bytes
        set(id, entry)
        shrink()
    }

    /// Replaces the head of an entry and keeps its body and file.
    mutating func update(_ id: UInt64, _ stored: StoredResponse) {
        guard var entry = entries[id] else { return }
        entry.stored = stored
        set(id, entry)
        shrink()
    }

    mutating func wasWritten(_ id: UInt64, successfully: Bool) {
        guard var entry = entries[id], entry.isPending else { return garbage.append(id) }
        (entry.isPending, entry.isOnDisk) = (false, successfully)
        set(id, entry)
        shrink()
    }

    mutating func remove(_ id: UInt64) {
        guard let entry = entries[id] else { return }
        set(id, nil)
        if entry.isOnDisk { garbage.append(id) }
        let rest = ids[entry.stored.url]?.filter { $0 != id } ?? []
        ids[entry.stored.url] = rest.isEmpty ? nil : rest
    }

    mutating func removeAll(for url: String) { for id in candidates(for: url) { remove(id) } }

    mutating func removeAll() { for id in Array(entries.keys) { remove(id) } }

    mutating func takeGarbage() -> [UInt64] {
        defer { garbage = [] }
        return garbage
    }

    private mutating func add(_ entry: Entry, as id: UInt64) {
        ids[entry.stored.url, default: []].append(id)
        set(id, entry)
        shrink()
    }

    /// Adds, replaces or removes an entry, and keeps the sums.
    private mutating func set(_ id: UInt64, _ new: Entry?) {
        for (entry, sign) in [(entries[id], -1), (new, 1)] {
            guard let entry else { continue }
            if entry.bytes != nil { memoryBytes += sign * entry.size }
            if entry.isOnDisk { diskBytes += sign * entry.size }
            if entry.isPending { pendingBytes += sign * entry.length }
        }
        entries[id] = new
    }

    /// Evicts the least recently used entries until all limits hold; bodies that wait to be written stay in memory.
    private mutating func shrink() {
        while memoryBytes > memoryLimit, let id = oldest(where: { $0.bytes != nil && !$0.isPending }) {
            guard var entry = entries[id], entry.isOnDisk else {
                remove(id)
                continue
            }
            entry.bytes = nil
            set(id, entry)
        }
        while diskBytes > diskLimit, let id = oldest(where: { $0.isOnDisk }) { remove(id) }
        while entries.count > Self.mostEntries, let id = oldest(where: { _ in true }) { remove(id) }
    }

    private func oldest(where condition: (Entry) -> Bool) -> UInt64? {
        entries.filter { condition($0.value) }.min { $0.value.used < $1.value.used }?.key
    }
}
