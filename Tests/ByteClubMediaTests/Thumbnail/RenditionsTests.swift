import Testing

@testable import ByteClubMedia

@Suite struct RenditionsTests {
    @Test("each size fits its box, keeps the aspect and is never enlarged")
    func sizes() throws {
        let photo = MakingJPEGs.with(
            try MakingJPEGs.quarters(width: 600, height: 300), exif: MakingJPEGs.exif(orientation: 6))
        let made = try Renditions.make(
            MemorySource(bytes: photo), sizes: [64, 256, 4096, 600, 128, 64, 0], quality: 82)
        #expect(made.keys.sorted() == [0, 64, 128, 256, 600, 4096])
        for (size, bytes) in made {
            let header = try JPEGHeader(bytes: bytes)
            let long = min(max(size, 1), 600)
            #expect(header.height == long && header.width == max(1, long / 2), "\(size)")
            #expect(header.orientation == 1)
        }
        #expect(made[4096] == made[600])
        #expect(try Renditions.make(MemorySource(bytes: photo), sizes: [], quality: 82).isEmpty)
    }

    @Test("a picture made from a larger one is as good as one made from the photo")
    func quality() throws {
        let source = MemorySource(bytes: try Photos.bytes("sunrise"))
        let made = try Renditions.make(source, sizes: [512, 256, 128], quality: 90)
        let chained = try MakingJPEGs.decoded(#require(made[128]))
        let direct = try MakingJPEGs.decoded(#require(Renditions.make(source, sizes: [128], quality: 90)[128]))
        #expect(chained.width == 128 && chained.width == direct.width)
        let difference = zip(chained.pixels, direct.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(Double(difference) / Double(direct.pixels.count) < 2)
    }

    @Test("what decoding and filtering take is compared with the budget before")
    func budget() throws {
        let source = MemorySource(bytes: try MakingJPEGs.quarters(width: 1000, height: 500))
        // A million and a half for the pixels, and as much again while they are filtered.
        #expect(throws: MediaError.self) {
            _ = try Renditions.make(source, sizes: [900], quality: 82, budget: DecodeBudget(bytes: 2_000_000))
        }
        _ = try Renditions.make(source, sizes: [64], quality: 82, budget: DecodeBudget(bytes: 2_000_000))
    }
}
