/// A photo's tiles in one file: the JPEGs row by row, then where each begins and the last ends, then how many columns
/// and rows there are.
///
/// Offsets have 32 bits and counts 16, the most significant byte first.
public struct TileFile: Sendable {
    /// Tiles across.
    public let columns: Int
    /// Tiles down.
    public let rows: Int
    /// Where each tile begins, and the last one ends.
    private let offsets: [Int]

    /// Reads where the tiles of a file lie.
    ///
    /// Blocks for storage.
    ///
    /// - Throws: `io`; `damaged` for a file that ``Tiles`` has not written.
    public init(path: String) throws(MediaError) {
        let source = try FileSource(path: path, followsLinks: false)
        let counts = try source.read(at: source.count - 4, count: 4)
        guard let columns = counts.uint16(at: 0), let rows = counts.uint16(at: 2) else { throw Self.damage(path) }
        let size = 4 * (columns * rows + 1)
        let table = try source.read(at: source.count - 4 - size, count: size)
        var offsets: [Int] = []
        for place in stride(from: 0, to: size, by: 4) {
            guard let offset = table.uint32(at: place) else { throw Self.damage(path) }
            offsets.append(offset)
        }
        guard offsets.first == 0, offsets.last == source.count - 4 - size,
            zip(offsets, offsets.dropFirst()).allSatisfy({ $0 < $1 })
        else { throw Self.damage(path) }
        (self.columns, self.rows, self.offsets) = (columns, rows, offsets)
    }

    /// The range of a tile in the file; nil when there is none in that column, from 0, and row, from 0.
    public func range(column: Int, row: Int) -> Range<Int64>? {
        guard (0..<columns).contains(column), (0..<rows).contains(row) else { return nil }
        let index = row * columns + column
        return Int64(offsets[index])..<Int64(offsets[index + 1])
    }

    private static func damage(_ path: String) -> MediaError { MediaError(.damaged, "\(path): not a file of tiles") }

    /// Writes a file of tiles, which is seen once it is whole.
    struct Writer: ~Copyable {
        private var file: NewFile
        private let columns: Int
        private let rows: Int
        private let limit: Int
        private var offset = 0
        private var table: [UInt8] = []

        /// Begins a file whose tiles take at most `limit` bytes together.
        init(path: String, columns: Int, rows: Int, limit: Int) throws(MediaError) {
            file = try NewFile(path: path)
            (self.columns, self.rows) = (columns, rows)
            self.limit = min(limit, Int(UInt32.max))
            table.append(uint32: 0)
        }

        /// Adds the next tile.
        ///
        /// - Throws: `tooLarge`, before anything is written, for a tile beyond the limit; `io`.
        mutating func append(_ tile: [UInt8]) throws(MediaError) {
            let end = offset + tile.count
            guard end <= limit, let place = UInt32(exactly: end) else {
                throw MediaError(.tooLarge, "the tiles of the photo take more than \(limit) bytes")
            }
            try file.append(tile)
            offset = end
            table.append(uint32: place)
        }

        mutating func finish() throws(MediaError) {
            table.append(uint16: columns)
            table.append(uint16: rows)
            try file.append(table)
            try file.finish()
        }
    }
}
