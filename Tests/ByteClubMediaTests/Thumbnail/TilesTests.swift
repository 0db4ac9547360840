import Foundation
import TestSupport
import Testing

@testable import ByteClubMedia

@Suite struct TilesTests {
    /// Colours that change slowly, with a place of their own everywhere.
    private static func waves(width: Int, height: Int) -> Raster {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(3 * width * height)
        for y in 0..<height {
            for x in 0..<width {
                pixels.append(UInt8(truncatingIfNeeded: x * 255 / width))
                pixels.append(UInt8(truncatingIfNeeded: y * 255 / height))
                pixels.append(UInt8(truncatingIfNeeded: 128 + (abs(x % 256 - 128) + abs(y % 128 - 64)) / 2))
            }
        }
        return Raster(width: width, height: height, channels: 3, pixels: pixels)
    }

    /// All tiles of a photo, laid beside each other.
    private static func joined(_ photo: [UInt8], quality: Int = 90) throws -> Raster {
        var tiles: [Raster] = []
        var columns = 0
        try Tiles.cut(MemorySource(bytes: photo), quality: quality) { (across, down, tile) throws(MediaError) in
            columns = across
            let header = try JPEGHeader(bytes: tile)
            #expect(header.orientation == 1 && header.exifRange == nil && header.xmpPackets.isEmpty)
            tiles.append(try JPEGDecoder().decode(tile, header: header))
        }
        let rows = stride(from: 0, to: tiles.count, by: columns).map { Array(tiles[$0..<$0 + columns]) }
        var pixels: [UInt8] = []
        for row in rows {
            for line in 0..<row[0].height {
                for tile in row { pixels += tile.pixels[line * tile.rowBytes..<(line + 1) * tile.rowBytes] }
            }
        }
        return Raster(
            width: rows[0].reduce(0) { $0 + $1.width }, height: rows.reduce(0) { $0 + $1[0].height },
            channels: tiles[0].channels, pixels: pixels)
    }

    /// The mean and the greatest difference of two pictures of one size, in levels.
    private static func difference(_ one: Raster, _ other: Raster) -> (mean: Double, most: Int) {
        var (sum, most) = (0, 0)
        for (a, b) in zip(one.pixels, other.pixels) {
            sum += abs(Int(a) - Int(b))
            most = max(most, abs(Int(a) - Int(b)))
        }
        return (Double(sum) / Double(one.pixels.count), most)
    }

    @Test(
        "tiles laid beside each other are the photo, whatever its sides",
        arguments: [(4097, 33), (4608, 513), (65, 4099)])
    func whole(width: Int, height: Int) throws {
        let photo = try JPEGEncoder().encode(Self.waves(width: width, height: height), quality: 95)
        let joined = try Self.joined(photo)
        #expect(joined.width == width && joined.height == height)
        let difference = Self.difference(joined, try MakingJPEGs.decoded(photo))
        #expect(difference.mean < 1.5 && difference.most < 40, "\(difference)")
    }

    @Test("tiles show the photo as it should be seen", arguments: 1...8)
    func orientation(number: Int) throws {
        let stored = Self.waves(width: 4100, height: 530)
        let photo = MakingJPEGs.with(
            try JPEGEncoder().encode(stored, quality: 95), exif: MakingJPEGs.exif(orientation: number))
        let joined = try Self.joined(photo)
        let seen = stored.oriented(number)
        #expect(joined.width == seen.width && joined.height == seen.height)
        let difference = Self.difference(joined, seen)
        #expect(difference.mean < 2, "\(difference)")
    }

    @Test("a sphere that claims to lie on its side is cut as it is shown")
    func sphere() throws {
        let xmp = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" \
            GPano:ProjectionType="equirectangular"/></rdf:RDF></x:xmpmeta>
            """
        // A small picture that claims to be a large one: what is missing is grey.
        let photo = MakingJPEGs.with(
            MakingJPEGs.resized(try MakingJPEGs.quarters(width: 64, height: 32), width: 4200, height: 2100),
            exif: MakingJPEGs.exif(orientation: 6), xmp: xmp)
        var counts = (columns: 0, rows: 0)
        try Tiles.cut(MemorySource(bytes: photo), quality: 50) { columns, rows, _ in counts = (columns, rows) }
        #expect(counts == (9, 5))
    }

    @Test("PNG files have tiles, grey ones grey ones; profiles go along and nothing else")
    func others() throws {
        let grey = Raster(
            width: 4200, height: 20, channels: 1, pixels: (0..<84_000).map { UInt8($0 % 4200 * 255 / 4200) })
        let joined = try Self.joined(try PNGEncoder.encode(grey))
        #expect(joined.channels == 1 && joined.width == 4200 && Self.difference(joined, grey).mean < 1)
        let icc = (0..<200).map { UInt8($0) }
        let photo = MakingJPEGs.with(
            try JPEGEncoder().encode(Self.waves(width: 4200, height: 8), quality: 90), xmp: "<x>a place</x>", icc: icc)
        try Tiles.cut(MemorySource(bytes: photo), quality: 82) { (_, _, tile) throws(MediaError) in
            let header = try JPEGHeader(bytes: tile)
            #expect(try CarriedMetadata.profile(of: header, in: MemorySource(bytes: tile)) == icc)
            #expect(header.xmpPackets.isEmpty)
        }
    }

    @Test("a profile that every tile would repeat at length stays away", arguments: [16 << 10, 16 << 10 + 1])
    func longProfile(size: Int) throws {
        let icc = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let photo = MakingJPEGs.with(
            try JPEGEncoder().encode(Self.waves(width: 4200, height: 8), quality: 90), icc: icc)
        try Tiles.cut(MemorySource(bytes: photo), quality: 82) { (_, _, tile) throws(MediaError) in
            let header = try JPEGHeader(bytes: tile)
            let profile = try CarriedMetadata.profile(of: header, in: MemorySource(bytes: tile))
            #expect(profile == (size > 16 << 10 ? nil : icc))
        }
    }

    @Test("what has no tiles, or takes too much memory, is refused before anything is decoded")
    func refusals() throws {
        func code(_ photo: [UInt8], budget: DecodeBudget = DecodeBudget()) -> MediaError.Code? {
            do throws(MediaError) {
                try Tiles.cut(MemorySource(bytes: photo), quality: 82, budget: budget) { _, _, _ in }
                return nil
            } catch { return error.code }
        }
        let small = try JPEGEncoder().encode(Self.waves(width: 4096, height: 8), quality: 82)
        #expect(code(small) == .tooSmall)
        #expect(code(try PNGEncoder.encode(Self.waves(width: 8, height: 16))) == .tooSmall)
        // Broken behind its header, so that decoding would say something else.
        let cut = Array(MakingJPEGs.resized(small, width: 20_000, height: 10_000).prefix(700))
        #expect(code(cut) == .tooLarge)
        #expect(code([0xFF, 0xD8, 0xFF]) == .damaged && code([1, 2, 3]) == .notAJPEG)
        let photo = try JPEGEncoder().encode(Self.waves(width: 4200, height: 100), quality: 82)
        let need = photo.count + 3 * 4200 * 100 + 9 * Tiles.side * Tiles.side
        #expect(code(photo, budget: DecodeBudget(bytes: need)) == nil)
        #expect(code(photo, budget: DecodeBudget(bytes: need - 1)) == .tooLarge)
    }

    @Test("a file of tiles tells where each lies, and one that was not written as such is refused")
    func file() throws {
        let directory = try TemporaryDirectory()
        let (source, output) = (directory.path + "/photo.jpg", directory.path + "/tiles")
        let photo = try JPEGEncoder().encode(Self.waves(width: 4608, height: 513), quality: 95)
        try NewFile.write(photo, to: source)
        try Tiles.write(file: source, to: output, quality: 90)
        var tiles: [[UInt8]] = []
        try Tiles.cut(MemorySource(bytes: photo), quality: 90) { tiles.append($2) }
        let file = try TileFile(path: output)
        #expect(file.columns == 9 && file.rows == 2 && tiles.count == 18)
        let bytes = try FileSource(path: output).readAll()
        for (index, tile) in tiles.enumerated() {
            let range = try #require(file.range(column: index % 9, row: index / 9))
            #expect(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]) == tile)
        }
        for (column, row) in [(9, 0), (0, 2), (-1, 0), (0, -1), (.max, .max)] {
            #expect(file.range(column: column, row: row) == nil)
        }
        for wrong in [[], [0], [0, 0, 0, 0], photo, Array(bytes.dropLast()), Array(bytes.dropFirst())] {
            try NewFile.write(wrong, to: directory.path + "/wrong")
            #expect(throws: MediaError.self) { _ = try TileFile(path: directory.path + "/wrong") }
        }
        let total = tiles.reduce(0) { $0 + $1.count }
        let (bounded, names) = (
            directory.path + "/bounded", try Set(FileManager.default.contentsOfDirectory(atPath: directory.path))
        )
        #expect(throws: MediaError(.tooLarge, "the tiles of the photo take more than \(total - 1) bytes")) {
            try Tiles.write(file: source, to: bounded, quality: 90, limit: total - 1)
        }
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: directory.path)) == names)
        try Tiles.write(file: source, to: bounded, quality: 90, limit: total)
        #expect(try FileSource(path: bounded).readAll() == bytes)
        try NewFile.write(try JPEGEncoder().encode(Self.waves(width: 64, height: 8), quality: 82), to: source)
        #expect(throws: MediaError.self) { try Tiles.write(file: source, to: directory.path + "/none") }
        #expect(throws: MediaError.self) { _ = try TileFile(path: directory.path + "/none") }
    }
}
