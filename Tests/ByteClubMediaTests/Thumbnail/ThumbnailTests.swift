import Testing

@testable import ByteClubMedia

@Suite struct ThumbnailTests {
    private static func make(
        _ bytes: [UInt8], _ width: Int, _ height: Int, _ format: ThumbnailFormat = .jpeg
    ) throws(MediaError) -> [UInt8] {
        try Thumbnail.make(MemorySource(bytes: bytes), width: width, height: height, format: format, quality: 82)
    }

    /// The letters of the four corners' colours, from the top left in reading order.
    private static func corners(_ raster: Raster) -> String {
        let inset = 3
        let places = [
            (inset, inset), (raster.width - 1 - inset, inset), (inset, raster.height - 1 - inset),
            (raster.width - 1 - inset, raster.height - 1 - inset),
        ]
        return places.map { x, y in
            let start = y * raster.rowBytes + x * 3
            switch raster.pixels[start..<start + 3].map({ $0 > 128 }) {
            case [true, false, false]: return "R"
            case [false, true, false]: return "G"
            case [false, false, true]: return "B"
            case [true, true, true]: return "W"
            default: return "?"
            }
        }.joined()
    }

    @Test(
        "each EXIF orientation turns the picture the right way up",
        arguments: zip(1...8, ["RGBW", "GRWB", "WBGR", "BWRG", "RBGW", "BRWG", "WGBR", "GWRB"]))
    func orientations(orientation: Int, expected: String) throws {
        let photo = MakingJPEGs.with(
            try MakingJPEGs.quarters(width: 180, height: 120), exif: MakingJPEGs.exif(orientation: orientation))
        let raster = try MakingJPEGs.decoded(Self.make(photo, 60, 60))
        #expect(Self.corners(raster) == expected)
        #expect(raster.width == (orientation >= 5 ? 40 : 60))
        #expect(raster.height == (orientation >= 5 ? 60 : 40))
    }

    @Test("the portrait stored on its side stands up")
    func portrait() throws {
        let header = try JPEGHeader(
            bytes: Thumbnail.make(file: Photos.path("portrait"), width: 128, height: 128, format: .jpeg))
        #expect(header.width == 96)
        #expect(header.height == 128)
        #expect(header.orientation == 1)
    }

    @Test("a photo without a mark of its end has a thumbnail, whatever marker follows its picture")
    func unended() throws {
        let other = try MakingJPEGs.quarters(width: 60, height: 60)
        let progressive = try Photos.bytes("progressive")
        for (photo, corners) in [(try MakingJPEGs.quarters(), "RGBW"), (progressive, nil)] {
            #expect(photo.suffix(2) == [0xFF, 0xD9])
            let whole = try Self.make(photo, 60, 60)
            for rest in [other, [0xFF, 0x02, 1, 2], [0xFF, 0xC0] + other, [0xFF, 0xF0, 0, 2], []] {
                let thumbnail = try Self.make(Array(photo.dropLast(2)) + rest, 60, 60)
                #expect(thumbnail == whole, "\(rest.prefix(4))")
                if let corners { #expect(try Self.corners(MakingJPEGs.decoded(thumbnail)) == corners) }
            }
        }
    }

    @Test("a photo smaller than the box keeps its size")
    func neverEnlarged() throws {
        for format in ThumbnailFormat.allCases {
            let bytes = try Thumbnail.make(
                file: Photos.path("partial"), width: 1024, height: 768, format: format)
            let size: (Int?, Int?)
            if format == .png {
                let png = try PNGFile(bytes)
                size = (png.width, png.height)
            } else {
                let header = try JPEGHeader(bytes: bytes)
                size = (header.width, header.height)
            }
            #expect(size == (480, 240))
        }
    }

    @Test("the picture fits the box, touches it, and keeps its aspect to a pixel")
    func aspect() throws {
        var generator = SeededGenerator(seed: 11)
        let photo = try MakingJPEGs.quarters(width: 301, height: 127)
        for _ in 0..<60 {
            let box = (Int.random(in: 1...320, using: &generator), Int.random(in: 1...160, using: &generator))
            let header = try JPEGHeader(bytes: Self.make(photo, box.0, box.1))
            #expect(header.width <= box.0 && header.height <= box.1)
            #expect(header.width == min(box.0, 301) || header.height == min(box.1, 127))
            let height = Double(header.width) * 127 / 301
            let width = Double(header.height) * 301 / 127
            #expect(abs(Double(header.height) - height) <= 1 || abs(Double(header.width) - width) <= 1, "\(box)")
        }
    }

    @Test("boxes of senseless sizes give a picture, not a trap", arguments: [Int.min, -1, 0, 1, .max])
    func oddBoxes(side: Int) throws {
        let header = try JPEGHeader(bytes: Self.make(MakingJPEGs.quarters(), side, side))
        #expect(header.width >= 1 && header.width <= 240)
    }

    @Test("bytes grow with the protocol's sizes", arguments: ThumbnailFormat.allCases)
    func growth(format: ThumbnailFormat) throws {
        let boxes = [(32, 32), (64, 64), (128, 128), (640, 480), (1024, 768)]
        let sizes = try boxes.map {
            try Thumbnail.make(file: Photos.path("sunrise"), width: $0.0, height: $0.1, format: format).count
        }
        #expect(sizes == sizes.sorted() && Set(sizes).count == sizes.count, "\(sizes)")
    }

    @Test("the same request gives the same bytes", arguments: ThumbnailFormat.allCases)
    func sameBytes(format: ThumbnailFormat) throws {
        let first = try Thumbnail.make(file: Photos.path("forest"), width: 128, height: 128, format: format)
        let second = try Thumbnail.make(file: Photos.path("forest"), width: 128, height: 128, format: format)
        #expect(first == second)
    }

    @Test("the colour profile goes along, in parts when it is long")
    func profiles() throws {
        let profile = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        let photo = MakingJPEGs.with(try MakingJPEGs.quarters(), icc: profile)
        let small = try Self.make(photo, 32, 32)
        let header = try JPEGHeader(bytes: small)
        #expect(header.iccRanges.count == 3)
        #expect(try CarriedMetadata.profile(of: header, in: MemorySource(bytes: small)) == profile)
        let real = try JPEGHeader(
            bytes: Thumbnail.make(file: Photos.path("progressive"), width: 64, height: 64, format: .jpeg))
        #expect(!real.iccRanges.isEmpty)
    }

    @Test("a thumbnail as PNG has sound chunks and the picture's pixels")
    func png() throws {
        let photo = MakingJPEGs.with(try MakingJPEGs.quarters(width: 180, height: 120), icc: [1, 2, 3, 4])
        let png = try PNGFile(Self.make(photo, 60, 60, .png))
        #expect(png.types == ["IHDR", "iCCP", "IDAT", "IEND"])
        let raster = try png.raster()
        #expect(raster.width == 60 && raster.height == 40)
        #expect(Self.corners(raster) == "RGBW")
        let viaJPEG = try MakingJPEGs.decoded(Self.make(photo, 60, 60))
        let difference = zip(raster.pixels, viaJPEG.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        // The JPEG has half of the colour's detail at the edges of the quarters.
        #expect(Double(difference) / Double(raster.pixels.count) < 5)
    }

    @Test("a grey photo stays grey")
    func grey() throws {
        let pixels = (0..<200 * 100).map { UInt8($0 % 200) }
        let photo = try JPEGEncoder().encode(Raster(width: 200, height: 100, channels: 1, pixels: pixels), quality: 90)
        #expect(try JPEGHeader(bytes: Self.make(photo, 64, 64)).components == 1)
        let raster = try PNGFile(Self.make(photo, 50, 50, .png)).raster()
        #expect(raster.channels == 1)
        #expect(abs(Int(raster.pixels[50 * 12 + 25]) - 102) < 6)
    }

    @Test("a CMYK photo shows the colours of its RGB twin")
    func cmyk() throws {
        #expect(try JPEGHeader(file: Photos.path("press")).components == 4)
        let press = try MakingJPEGs.decoded(
            Thumbnail.make(file: Photos.path("press"), width: 128, height: 128, format: .jpeg))
        let city = try MakingJPEGs.decoded(
            Thumbnail.make(file: Photos.path("city"), width: 128, height: 128, format: .jpeg))
        #expect(press.channels == 3 && press.width == city.width)
        let difference = zip(press.pixels, city.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(difference / city.pixels.count < 8)
    }

    @Test("a plain area keeps its value through the filter")
    func plain() {
        for value in UInt8.min ... .max {
            let raster = Raster(
                width: 97, height: 61, channels: 3, pixels: [UInt8](repeating: value, count: 97 * 61 * 3))
            for (width, height) in [(13, 7), (90, 11), (17, 60), (1, 1), (120, 70)] {
                #expect(raster.resampled(width: width, height: height).pixels.allSatisfy { $0 == value }, "\(value)")
            }
        }
    }

    @Test("a progressive bomb is refused by its header, before it is decoded")
    func bomb() throws {
        let photo = MakingJPEGs.resized(try Photos.bytes("progressive"), width: 30_000, height: 15_000)
        #expect(try JPEGHeader(bytes: photo).estimatedDecodeBytes > 1_300_000_000)
        let clock = ContinuousClock()
        var error: MediaError?
        let time = clock.measure {
            do throws(MediaError) { _ = try Self.make(photo, 64, 64) } catch let thrown { error = thrown }
        }
        #expect(error?.code == .tooLarge)
        #expect(time < .seconds(2))
        let huge = MakingJPEGs.resized(try Photos.bytes("city"), width: 65_000, height: 65_000)
        #expect(throws: MediaError.self) { _ = try Self.make(huge, 64, 64) }
    }

    @Test("a photo cut off in its picture is delivered as far as it goes", arguments: ["city", "progressive"])
    func truncated(name: String) throws {
        let photo = try Photos.bytes(name)
        let whole = try MakingJPEGs.decoded(Self.make(photo, 128, 128))
        let cut = try MakingJPEGs.decoded(Self.make(Array(photo.prefix(photo.count * 3 / 4)), 128, 128))
        #expect(cut.width == 128 && cut.height == 64)
        let top = whole.rowBytes * 16
        let difference = zip(whole.pixels[..<top], cut.pixels[..<top]).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(difference / top < 24)
    }

    @Test("what is neither a JPEG nor a PNG says so")
    func impostor() throws {
        let error = #expect(throws: MediaError.self) { _ = try Self.make(Array("GIF89a".utf8), 64, 64) }
        #expect(error?.code == .notAJPEG)
    }

    @Test("a PNG that is called a JPEG has a thumbnail")
    func misnamed() throws {
        let bytes = try Thumbnail.make(file: Photos.path("not-a-photo"), width: 64, height: 64, format: .jpeg)
        #expect(try JPEGHeader(bytes: bytes).width <= 64)
    }
}
