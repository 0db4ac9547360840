import Testing

@testable import ByteClubMedia

@Suite struct EmbeddedPreviewTests {
    /// A photo with EXIF's small picture, and a larger one after its end that the multi-picture format tells of.
    private static func photo(size: Int? = nil, offset: Int? = nil) throws -> (bytes: [UInt8], large: [UInt8]) {
        let small = try MakingJPEGs.quarters(width: 16, height: 8)
        let large = try MakingJPEGs.quarters(width: 64, height: 32)
        let exif = MakingTIFF(main: [0x0112: .short(3)], thumbnail: small, isLittle: false).bytes
        let base = MakingJPEGs.with(try MakingJPEGs.quarters(), exif: exif)
        func index(at place: Int) -> [UInt8] {
            var entries: [UInt8] = []
            for (bytes, start) in [(base.count, 0), (size ?? large.count, offset ?? place)] {
                entries.append(uint32: 0)
                entries.append(uint32: UInt32(truncatingIfNeeded: bytes))
                entries.append(uint32: UInt32(truncatingIfNeeded: start))
                entries.append(uint32: 0)
            }
            let tags = MakingTIFF(main: [0xB001: .long(2), 0xB002: .data(entries)], isLittle: false)
            return MakingJPEGs.segment(0xE2, "MPF\0", tags.bytes)
        }
        // The format counts from its own structure, eight bytes into the segment that follows the start.
        let segment = index(at: base.count + index(at: 0).count - 10)
        return ([0xFF, 0xD8] + segment + base.dropFirst(2) + large, large)
    }

    @Test("both previews are found where they lie, the smallest first")
    func found() throws {
        let (bytes, large) = try Self.photo()
        let source = MemorySource(bytes: bytes)
        let previews = try EmbeddedPreview.previews(of: JPEGHeader(source), in: source)
        #expect(previews.map(\.origin) == [.exif, .mpf])
        #expect(previews.map(\.width) == [16, 64] && previews.map(\.height) == [8, 32])
        #expect(previews.last.map { Array(bytes[$0.range]) } == large)
        #expect(try previews.first.map { try JPEGHeader(bytes: Array(bytes[$0.range])).width } == 16)
    }

    @Test(
        "previews outside the file, in its headers or without end are none",
        arguments: [(nil, 1 << 30), (1 << 31, nil), (0, nil), (nil, 4), (0xFFFF_FFFF, 0xFFFF_FFFF)] as [(Int?, Int?)])
    func nonsense(size: Int?, offset: Int?) throws {
        let source = MemorySource(bytes: try Self.photo(size: size, offset: offset).bytes)
        #expect(try EmbeddedPreview.previews(of: JPEGHeader(source), in: source).map(\.origin) == [.exif])
    }

    @Test("a real camera's previews are found", .enabled(if: Photos.fetched != nil))
    func real() throws {
        let source = try FileSource(path: #require(Photos.fetched) + "1.jpg")
        let previews = try EmbeddedPreview.previews(of: JPEGHeader(source), in: source)
        #expect(previews.map(\.width) == [240, 1440] && previews.map(\.height) == [120, 720])
        #expect(previews.last?.range == 3_103_231..<3_296_115)
    }
}
