import Testing

@testable import ByteClubMedia

@Suite struct PNGPhotoTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let file: [UInt8]
        let pixel: [UInt8]
        var testDescription: String { name }
    }

    private static let kinds = [
        Kind(name: "colour", file: MakingPNGs.plain(type: 2, pixel: [200, 100, 50]), pixel: [200, 100, 50]),
        Kind(
            name: "colour in 16 bits",
            file: MakingPNGs.plain(type: 2, depth: 16, pixel: [200, 200, 100, 100, 50, 50]), pixel: [200, 100, 50]),
        Kind(name: "grey", file: MakingPNGs.plain(type: 0, pixel: [90]), pixel: [90]),
        Kind(name: "grey in one bit", file: MakingPNGs.plain(type: 0, depth: 1, pixel: [255]), pixel: [255]),
        Kind(
            name: "palette",
            file: MakingPNGs.plain(type: 3, pixel: [1], chunks: [("PLTE", [0, 0, 0, 200, 100, 50])]),
            pixel: [200, 100, 50]),
        Kind(name: "seen through", file: MakingPNGs.plain(type: 6, pixel: [0, 0, 0, 0]), pixel: [255, 255, 255]),
        Kind(name: "grey with alpha", file: MakingPNGs.plain(type: 4, pixel: [90, 255]), pixel: [90]),
    ]

    @Test("every kind of PNG gives its colours", arguments: kinds)
    func colours(kind: Kind) throws {
        let raster = try PNGDecoder.decode(kind.file)
        #expect(raster.width == 40 && raster.height == 20 && raster.channels == kind.pixel.count)
        #expect(Array(raster.pixels.suffix(kind.pixel.count)) == kind.pixel)
        let bytes = try Thumbnail.make(
            MemorySource(bytes: kind.file), width: 16, height: 16, format: .png, quality: 82)
        let small = try PNGFile(bytes).raster()
        #expect(small.width == 16 && small.height == 8)
        #expect(Array(small.pixels.prefix(kind.pixel.count)) == kind.pixel)
    }

    @Test("the colour profile of a PNG goes along")
    func profile() throws {
        let profile = (0..<2_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        let body = Array("name\0\0".utf8) + MakingPNGs.deflated(profile)
        let photo = MakingPNGs.plain(type: 2, pixel: [200, 100, 50], chunks: [("iCCP", body)])
        #expect(PNGDecoder.profile(photo) == profile)
        let small = try Thumbnail.make(
            MemorySource(bytes: photo), width: 16, height: 16, format: .jpeg, quality: 82)
        #expect(try CarriedMetadata.profile(of: JPEGHeader(bytes: small), in: MemorySource(bytes: small)) == profile)
    }

    @Test(
        "a PNG of a size that memory does not hold is refused by its header",
        arguments: [(60_000, 60_000), (16_000, 12_000)])
    func bomb(width: Int, height: Int) throws {
        let photo = MakingPNGs.file(width: width, height: height, type: 6, depth: 16, lines: [0])
        let source = MemorySource(bytes: photo)
        let thumbnail = #expect(throws: MediaError.self) {
            _ = try Thumbnail.make(source, width: 16, height: 16, format: .jpeg, quality: 82)
        }
        #expect(thumbnail?.code == .tooLarge)
        let renditions = #expect(throws: MediaError.self) { _ = try Renditions.make(source, sizes: [16], quality: 82) }
        #expect(renditions?.code == .tooLarge)
    }

    @Test("400 broken PNGs give a thumbnail or one of our errors")
    func broken() throws {
        let seed: UInt64 = 20_261_125
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        var made = 0
        for index in 0..<400 {
            var bytes = Self.kinds[index % Self.kinds.count].file
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: 8..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if index % 5 == 0 { bytes.removeLast(Int.random(in: 1..<bytes.count - 8, using: &generator)) }
            do throws(MediaError) {
                _ = try Thumbnail.make(MemorySource(bytes: bytes), width: 16, height: 16, format: .jpeg, quality: 82)
                made += 1
            } catch {
                #expect(error.code == .damaged || error.code == .tooLarge, "\(error)")
            }
        }
        #expect(made > 20 && made < 380)
    }
}
