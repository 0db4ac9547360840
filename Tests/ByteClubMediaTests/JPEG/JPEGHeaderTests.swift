import Testing

@testable import ByteClubMedia

@Suite struct JPEGHeaderTests {
    /// Counts the bytes that are read.
    private final class CountingSource: ByteSource {
        let bytes: [UInt8]
        var read = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        var count: Int { bytes.count }

        func read(at offset: Int, count: Int) throws(MediaError) -> [UInt8] {
            let found = try MemorySource(bytes: bytes).read(at: offset, count: count)
            read += found.count
            return found
        }
    }

    private func code(_ bytes: [UInt8]) -> MediaError.Code? {
        do throws(MediaError) {
            _ = try JPEGHeader(bytes: bytes)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("a file and its bytes give the same header")
    func fileAndBytes() throws {
        let header = try JPEGHeader(file: Photos.path("progressive"))
        #expect(try JPEGHeader(bytes: Photos.bytes("progressive")) == header)
        #expect(header.width == 1024)
        #expect(header.height == 512)
        #expect(header.isProgressive)
        #expect(header.components == 3)
        #expect(!header.iccRanges.isEmpty)
        // 4:2:0: one and a half samples a pixel, two bytes each.
        #expect(header.estimatedDecodeBytes == 1024 * 512 * 3)
        #expect(try JPEGHeader(file: Photos.path("city")).estimatedDecodeBytes == 0)
    }

    @Test("megabytes of metadata before the picture are stepped over, not read")
    func reading() throws {
        let photo = try Photos.bytes("partial")
        let bulk: [UInt8] = [0xFF, 0xE1, 0xFF, 0xFF] + Array("http://ns.adobe.com/xmp/extension/\0".utf8)
        let segment = bulk + [UInt8](repeating: 7, count: 65_537 - bulk.count)
        let source = CountingSource(bytes: [0xFF, 0xD8] + (0..<112).flatMap { _ in segment } + photo.dropFirst(2))
        let header = try JPEGHeader(source)
        #expect(Panorama(header: header).kind == .partialSphere)
        #expect(source.count > 7_000_000)
        #expect(source.read <= 16_384)
    }

    @Test("EXIF is understood in both byte orders")
    func byteOrders() throws {
        let photo = try MakingJPEGs.quarters()
        for isLittle in [true, false] {
            let exif = MakingJPEGs.exif(orientation: 7, customRendered: 6, focal: 28, isLittle: isLittle)
            let header = try JPEGHeader(bytes: MakingJPEGs.with(photo, exif: exif))
            #expect(header.orientation == 7)
            #expect(header.customRendered == 6)
            #expect(header.focalLength35mm == 28)
        }
        #expect(try JPEGHeader(bytes: MakingJPEGs.with(photo, exif: MakingJPEGs.exif(orientation: 9))).orientation == 1)
    }

    @Test("what is not a JPEG is told from what is a damaged one")
    func failures() throws {
        let photo = try Photos.bytes("city")
        #expect(code([]) == .notAJPEG)
        #expect(code([0xFF, 0xD8]) == .notAJPEG)
        #expect(code(try Photos.bytes("not-a-photo")) == .notAJPEG)
        #expect(code(Array("a note, not a photo".utf8)) == .notAJPEG)
        #expect(code(Array(photo.prefix(200))) == .damaged)
        #expect(code([0xFF, 0xD8, 0xFF, 0xD9]) == .damaged)
        #expect(code(MakingJPEGs.resized(photo, width: 0, height: 10)) == .damaged)
    }

    @Test(
        "a missing file, a directory and a name with a NUL are one clear line",
        arguments: ["/nowhere/x.jpg", "/tmp", "a\0b"])
    func unreadable(path: String) throws {
        let error = #expect(throws: MediaError.self) { _ = try JPEGHeader(file: path) }
        #expect(error?.code == .io)
        #expect(error?.message.contains("\n") == false)
    }
}
