import Testing

@testable import ByteClubMedia

@Suite struct PreviewStandInTests {
    private static func plain(_ width: Int, _ height: Int, _ value: UInt8) throws -> [UInt8] {
        try JPEGEncoder().encode(
            Raster(
                width: width, height: height, channels: 3, pixels: [UInt8](repeating: value, count: width * height * 3)),
            quality: 95)
    }

    /// A black photo with a white preview after its end, which the multi-picture format tells of.
    ///
    /// `gap` bytes lie between the two, as an editor may leave them.
    private static func photo(preview: (width: Int, height: Int), gap: Int = 0) throws -> [UInt8] {
        let base = try plain(400, 200, 0)
        let large = try plain(preview.width, preview.height, 255)
        func index(at place: Int) -> [UInt8] {
            var entries: [UInt8] = []
            for (bytes, start) in [(base.count, 0), (large.count, place)] {
                for number in [0, bytes, start, 0] { entries.append(uint32: UInt32(truncatingIfNeeded: number)) }
            }
            let tags = MakingTIFF(main: [0xB001: .long(2), 0xB002: .data(entries)], isLittle: false)
            return MakingJPEGs.segment(0xE2, "MPF\0", tags.bytes)
        }
        let segment = index(at: base.count + index(at: 0).count - 10 + gap)
        return [0xFF, 0xD8] + segment + base.dropFirst(2) + [UInt8](repeating: 0, count: gap) + large
    }

    /// Whether a thumbnail of a photo shows its white preview.
    private static func showsPreview(_ photo: [UInt8], side: Int) throws -> Bool {
        let bytes = try Thumbnail.make(
            MemorySource(bytes: photo), width: side, height: side, format: .jpeg, quality: 82)
        return try MakingJPEGs.decoded(bytes).pixels[0] > 128
    }

    @Test("a preview that is large enough stands for the photo, others do not")
    func size() throws {
        let photo = try Self.photo(preview: (96, 48))
        #expect(try Self.showsPreview(photo, side: 64))
        #expect(try Self.showsPreview(photo, side: 32))
        #expect(try !Self.showsPreview(photo, side: 65))
        #expect(try !Self.showsPreview(photo, side: 400))
    }

    @Test("a preview of another aspect is left out", arguments: [(96, 96), (96, 52), (48, 96)])
    func aspect(width: Int, height: Int) throws {
        #expect(try !Self.showsPreview(Self.photo(preview: (width, height)), side: 24))
    }

    @Test("a preview is left out when the photo before it has another length than its camera wrote")
    func edited() throws {
        #expect(try !Self.showsPreview(Self.photo(preview: (96, 48), gap: 1), side: 32))
    }

    @Test("a broken preview gives way to the photo")
    func broken() throws {
        var photo = try Self.photo(preview: (96, 48))
        let start = try #require(photo.indices.dropLast(2).last { photo[$0] == 0xFF && photo[$0 + 1] == 0xDA })
        photo.removeLast(photo.count - start)
        #expect(try !Self.showsPreview(photo, side: 32))
    }
}
