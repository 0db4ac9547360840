/// The unsettled items in chunks, in the order of their identities.
///
/// Each chunk is read when it is asked for: items that are settled by then are left out.
struct UnsettledChunks {
    private let store: any TreeStore
    private let size: Int
    private var last: ItemID?

    /// Starts at the first one.
    init(_ store: any TreeStore, of size: Int) {
        self.store = store
        self.size = size
    }

    /// The next ones; nil when there are no more.
    mutating func next() throws -> [Item]? {
        let chunk = try store.unsettled(after: last, limit: size)
        guard let end = chunk.last else { return nil }
        last = end.id
        return chunk
    }
}
