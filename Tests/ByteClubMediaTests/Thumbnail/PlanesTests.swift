import Testing

@testable import ByteClubMedia

/// Pictures that go from JPEG's planes to JPEG's planes without red, green and blue between them.
@Suite struct PlanesTests {
    /// A picture whose luma, Cb and Cr rise evenly, each in a direction of its own.
    private static func slopes(_ u: Double, _ v: Double) -> [Double] {
        [40 + 90 * u + 90 * v, 60 + 140 * u, 60 + 140 * v]
    }

    private static func plane(_ index: Int, _ columns: PlaneAxis, _ rows: PlaneAxis) -> Plane {
        var bytes: [UInt8] = []
        for y in 0..<rows.samples {
            for x in 0..<columns.samples {
                let value = slopes(columns.centre(of: x) / columns.length, rows.centre(of: y) / rows.length)[index]
                bytes.append(UInt8(value.rounded()))
            }
        }
        return Plane(width: columns.samples, height: rows.samples, bytes: bytes, stride: columns.samples)
    }

    private static func photo(_ sampling: YCbCrPicture.Sampling, _ width: Int, _ height: Int) throws -> [UInt8] {
        let chroma = [1, 2].map {
            plane($0, PlaneAxis(pixels: width, step: sampling.across), PlaneAxis(pixels: height, step: sampling.down))
        }
        let luma = plane(0, PlaneAxis(pixels: width), PlaneAxis(pixels: height))
        return try JPEGEncoder().encode(YCbCrPicture(luma: luma, chroma: chroma, sampling: sampling), quality: 98)
    }

    /// Where in the stored picture a place of the upright one lies.
    private static func stored(_ u: Double, _ v: Double, _ orientation: Int) -> (Double, Double) {
        switch orientation {
        case 2: (1 - u, v)
        case 3: (1 - u, 1 - v)
        case 4: (u, 1 - v)
        case 5: (v, u)
        case 6: (v, 1 - u)
        case 7: (1 - v, 1 - u)
        case 8: (1 - v, u)
        default: (u, v)
        }
    }

    @Test(
        "luma and colours lie where they should, in each sampling, orientation and odd size",
        arguments: YCbCrPicture.Sampling.allCases, 1...8)
    func places(sampling: YCbCrPicture.Sampling, orientation: Int) throws {
        let stored = try Self.photo(sampling, 203, 139)
        let header = try JPEGHeader(bytes: stored)
        #expect(header.frame.chromaSampling == sampling)
        let photo = MakingJPEGs.with(stored, exif: MakingJPEGs.exif(orientation: orientation))
        for side in [203, 97, 48, 15] {
            let bytes = try Thumbnail.make(
                MemorySource(bytes: photo), width: side, height: side, format: .jpeg, quality: 98)
            let made = try JPEGHeader(bytes: bytes)
            #expect(made.frame.chromaSampling == .half && max(made.width, made.height) == side)
            let picture = try #require(try JPEGDecoder().decodePlanes(bytes, header: made))
            let columns = PlaneAxis(pixels: made.width, step: 2)
            let rows = PlaneAxis(pixels: made.height, step: 2)
            for (index, plane) in ([picture.luma] + picture.chroma).enumerated() {
                let raster = plane.raster
                let (across, down) =
                    index == 0 ? (PlaneAxis(pixels: made.width), PlaneAxis(pixels: made.height)) : (columns, rows)
                var (sum, worst) = (0.0, 0.0)
                for y in 0..<raster.height {
                    for x in 0..<raster.width {
                        let place = Self.stored(
                            across.centre(of: x) / across.length, down.centre(of: y) / down.length, orientation)
                        let error = Double(raster.pixels[y * raster.width + x]) - Self.slopes(place.0, place.1)[index]
                        sum += error
                        worst = max(worst, abs(error))
                    }
                }
                // A shift by half a sample of chroma would be a mean of 140 / 97 even at the larger size.
                let mean = sum / Double(raster.pixels.count)
                #expect(abs(mean) < 0.8, "\(side), plane \(index)")
                #expect(worst < (side < 40 ? 16 : 8), "\(side), plane \(index)")
            }
        }
    }

    @Test("a JPEG of red, green and blue keeps its colours")
    func rgb() throws {
        let quarters = try MakingJPEGs.decoded(MakingJPEGs.quarters())
        let planes = (0..<3).map { channel in
            Plane(
                width: quarters.width, height: quarters.height,
                bytes: stride(from: channel, to: quarters.pixels.count, by: 3).map { quarters.pixels[$0] },
                stride: quarters.width)
        }
        let picture = YCbCrPicture(luma: planes[0], chroma: Array(planes[1...]), sampling: .full)
        // Without JFIF, and with letters for numbers, as programs that keep these colours write them.
        var photo = Array(try JPEGEncoder().encode(picture, quality: 98))
        photo.removeSubrange(2..<20)
        let frame = try #require(photo.indices.first { photo[$0...].starts(with: [0xFF, 0xC0]) })
        let scan = try #require(photo.indices.first { photo[$0...].starts(with: [0xFF, 0xDA]) })
        for (index, letter) in "RGB".utf8.enumerated() {
            photo[frame + 10 + 3 * index] = letter
            photo[scan + 5 + 2 * index] = letter
        }
        let bytes = try Thumbnail.make(MemorySource(bytes: photo), width: 60, height: 60, format: .jpeg, quality: 90)
        let small = try MakingJPEGs.decoded(bytes)
        let colours = [(8, 8), (50, 8), (8, 22), (50, 22)].map { x, y in
            small.pixels[y * small.rowBytes + 3 * x..<y * small.rowBytes + 3 * x + 3].map { $0 > 128 }
        }
        #expect(
            colours == [[true, false, false], [false, true, false], [false, false, true], [true, true, true]])
    }

    @Test(
        "a thumbnail is as near to the filtered full size as its encoding lets it be",
        arguments: ["city", "forest", "progressive"])
    func quality(name: String) throws {
        let bytes = try Photos.bytes(name)
        let whole = try MakingJPEGs.decoded(bytes)
        let (width, height) = (300, whole.height * 300 / whole.width)
        let reference = whole.resampled(width: width, height: height)
        func ratio(_ jpeg: [UInt8]) throws -> Double {
            let made = try MakingJPEGs.decoded(jpeg)
            let squares = zip(made.pixels, reference.pixels).reduce(0) { sum, pair in
                sum + (Int(pair.0) - Int(pair.1)) * (Int(pair.0) - Int(pair.1))
            }
            return Double(squares) / Double(reference.pixels.count)
        }
        let own = try ratio(
            Thumbnail.make(MemorySource(bytes: bytes), width: width, height: height, format: .jpeg, quality: 90))
        // What the encoder alone costs, which also makes chroma smaller by simple means.
        let bound = try ratio(JPEGEncoder().encode(reference, quality: 90))
        #expect(own < bound * 1.1, "\(own), \(bound)")
    }
}
