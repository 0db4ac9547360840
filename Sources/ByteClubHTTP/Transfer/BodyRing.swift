/// The bytes of a streamed body on their way to its reader: first in first out, and bounded.
///
/// The writer stops when it is told that there is no room, and goes on when a reader emptied the ring to its low water.
struct BodyRing {
    /// The most bytes held.
    static let highWater = 1 << 20
    /// How far the ring is emptied before a writer that stopped goes on.
    static let lowWater = 256 << 10
    private static let blockSize = 64 << 10

    private(set) var count = 0
    /// Whether the writer was turned away and waits to be told.
    private(set) var isHolding = false
    private var blocks = FIFO<[UInt8]>()
    private var newest: [UInt8] = []

    /// Whether this many bytes may be appended now; if not, a later ``take()`` says when.
    mutating func hasRoom(for size: Int) -> Bool {
        // Below low water no reader would ever wake the writer.
        if !isHolding, count > Self.lowWater, size > Self.highWater - count { isHolding = true }
        return !isHolding
    }

    /// Adds bytes; small pieces share a block, so that a thousand of them do not become a thousand allocations.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if newest.count + bytes.count > Self.blockSize, !newest.isEmpty { blocks.append(Self.move(&newest)) }
        unsafe newest.append(contentsOf: bytes)
        count += bytes.count
    }

    /// Adds a body that is whole already, whatever its length.
    mutating func append(whole bytes: [UInt8]) {
        if !newest.isEmpty { blocks.append(Self.move(&newest)) }
        newest = bytes
        count += bytes.count
    }

    /// The oldest bytes, nil when there are none, and whether the writer must be told to go on.
    mutating func take() -> (bytes: [UInt8]?, releases: Bool) {
        let bytes = blocks.popFirst() ?? (newest.isEmpty ? nil : Self.move(&newest))
        count -= bytes?.count ?? 0
        guard isHolding, count <= Self.lowWater else { return (bytes, false) }
        isHolding = false
        return (bytes, true)
    }

    /// Forgets everything.
    mutating func removeAll() { self = BodyRing() }

    private static func move(_ block: inout [UInt8]) -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &block)
        return taken
    }
}
