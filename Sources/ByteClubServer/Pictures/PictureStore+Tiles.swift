import ByteClubCore
import ByteClubMedia

/// Tiles of photos that are larger than the largest preview; all tiles of a content are made together and kept in one
/// file.
extension PictureStore {
    /// Raised with every change of tiles, or after which a photo that was refused may have some.
    private static let tileVersion = 1
    /// The bytes that tiles leave free on the disk beyond the reserve of writers: pages do without tiles.
    private static let spareForTiles: Int64 = 256 << 20

    /// A content's tiles, open for reading.
    struct TileSet: Sendable {
        let file: any BlobReader
        let index: TileFile
    }

    /// A tile of a content, as bytes of a file.
    ///
    /// - Throws: As ``picture(_:by:refusal:for:limit:source:known:make:)``; ``APIError`` 404 when there is no such tile;
    ///   ``StorageError`` when there is no room.
    func tile(
        of hash: ContentHash, column: Int, row: Int, for requester: Requester,
        source: @escaping @Sendable () async throws -> StoredContent
    ) async throws -> (file: any BlobReader, range: Range<Int64>) {
        let name = "\(hash)-tiles-\(Self.tileVersion)"
        let refusal = "\(hash)-tiles.refused-\(Self.tileVersion)"
        let made = try await picture(name, by: tiles, refusal: refusal, for: requester, source: source) {
            tileSet(name)
        } make: { file in
            try reserve.check(for: Self.spareForTiles + Int64(Makers.mostTileBytes))
            try cache.make(name) { try makers.tiles(file, $0) }
            guard let made = tileSet(name) else { throw StorageError(.full, "no space for tiles") }
            return made
        }
        guard let range = made.index.range(column: column, row: row) else {
            throw APIError(404, "the tile was not found")
        }
        return (made.file, range)
    }

    /// The tiles of a file; nil when there are none, or the file is broken.
    private func tileSet(_ name: String) -> TileSet? {
        // An open file stays readable when it is removed.
        guard let blob = cache.blob(name), let file = try? blob.open(), let index = try? TileFile(path: blob.path)
        else { return nil }
        return TileSet(file: file, index: index)
    }
}
