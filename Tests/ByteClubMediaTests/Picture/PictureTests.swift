import Testing

@testable import ByteClubMedia

@Suite struct PictureTests {
    @Test("a JPEG is decoded upright, grey ones in three channels")
    func decoding() throws {
        let turned = MakingJPEGs.with(
            try MakingJPEGs.quarters(width: 64, height: 32), exif: MakingJPEGs.exif(orientation: 6))
        let picture = try Picture(jpeg: turned)
        #expect(picture.width == 32 && picture.height == 64)
        // Turned to the right: what was below left is above left now.
        #expect(picture.rgb[2] > 200 && picture.rgb[0] < 60)
        let grey = Raster(width: 8, height: 8, channels: 1, pixels: [UInt8](repeating: 90, count: 64))
        let same = try Picture(jpeg: JPEGEncoder().encode(grey, quality: 95))
        #expect(same.rgb.count == 192 && Set(same.rgb) == [90])
        #expect(throws: MediaError.self) { try Picture(jpeg: [1, 2, 3]) }
    }

    @Test("sizes are exact, and files of a picture are of its size")
    func fitting() throws {
        let picture = try Picture(jpeg: Photos.bytes("portrait"))
        let small = picture.fitted(width: 37, height: 11)
        #expect(small.width == 37 && small.height == 11 && small.rgb.count == 37 * 11 * 3)
        #expect(picture.fitted(width: 0, height: -5).rgb.count == 3)
        #expect(try PNGFile(small.png()).raster().pixels == small.rgb)
        #expect(try JPEGHeader(bytes: small.jpeg(quality: 80)).width == 37)
    }

    @Test("pixels that are too few or too many make no picture")
    func counting() {
        #expect(Picture(width: 2, height: 2, rgb: [UInt8](repeating: 0, count: 12)) != nil)
        #expect(Picture(width: 2, height: 2, rgb: [UInt8](repeating: 0, count: 11)) == nil)
        #expect(Picture(width: 0, height: 2, rgb: []) == nil)
        #expect(Picture(width: .max, height: .max, rgb: []) == nil)
    }
}
