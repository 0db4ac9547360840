import TestSupport
import Testing

@testable import ByteClubMedia

@Suite struct HostileBytesTests {
    private static let seed = UInt64.random(in: 0 ... .max)

    /// Changes, cuts, doubles or drops a few bytes, mostly among the headers.
    private static func mutated(_ photo: [UInt8], headers: Int, using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = photo
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            guard bytes.count > 4 else { break }
            let end = Bool.random(using: &generator) ? min(headers, bytes.count) : bytes.count
            let place = Int.random(in: 2..<max(3, end), using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 2: bytes[place] = [0, 0xFF, 0x7F, 0x80].randomElement(using: &generator) ?? 0
            case 3: bytes.remove(at: place)
            case 4: bytes.insert(bytes[place], at: place)
            default: if Int.random(in: 0..<4, using: &generator) == 0 { bytes.removeLast(bytes.count - place) }
            }
        }
        return bytes
    }

    @Test("8,000 broken headers give a header or one of our errors, and every panorama stays in range")
    func headers() throws {
        print("seed \(Self.seed)")
        var generator = SeededGenerator(seed: Self.seed)
        let photos = try ["partial", "phone-strip", "portrait", "progressive"].map {
            Array(try Photos.bytes($0).prefix(6_000))
        }
        var read = 0
        for index in 0..<8_000 {
            let bytes = Self.mutated(photos[index % photos.count], headers: 3_000, using: &generator)
            do throws(MediaError) {
                let panorama = Panorama(header: try JPEGHeader(bytes: bytes))
                #expect((0...360).contains(panorama.hFOV ?? 0) && (0...180).contains(panorama.vFOV ?? 0))
                #expect((-90...90).contains(panorama.pitch) && (1...8).contains(panorama.orientation))
                read += 1
            } catch {
                #expect([.notAJPEG, .damaged, .unsupported].contains(error.code), "\(error)")
            }
        }
        // Both outcomes must be frequent, or the test says nothing.
        #expect(read > 500 && read < 7_900)
    }

    @Test("400 broken photos give a thumbnail or one of our errors")
    func decodes() throws {
        print("seed \(Self.seed)")
        var generator = SeededGenerator(seed: Self.seed)
        let photos = try ["partial", "phone-strip", "portrait", "progressive"].map { try Photos.bytes($0) }
        var made = 0
        for index in 0..<400 {
            let bytes = Self.mutated(photos[index % photos.count], headers: 3_000, using: &generator)
            do throws(MediaError) {
                let format: ThumbnailFormat = index % 2 == 0 ? .jpeg : .png
                let file = try Thumbnail.make(
                    MemorySource(bytes: bytes), width: 32, height: 32, format: format, quality: 82)
                #expect(!file.isEmpty)
                made += 1
            } catch {
                #expect(error.code != .io, "\(error)")
            }
        }
        #expect(made > 40)
    }

    @Test("random text in the place of XMP never traps the scanner")
    func packets() {
        print("seed \(Self.seed)")
        var generator = SeededGenerator(seed: Self.seed)
        let pieces = [
            "<", ">", "/", "=", "'", "\"", "&", "&#x0;", "&#99999999999;", "&amp;", ";", ":", "xmlns", "xmlns:p",
            "p:Name", "Name",
            "'\(GPano.namespace)'", "<!--", "-->", "<?", "?>", "<![CDATA[", "]]>", "</", " ", "\n", "\u{0}", "é",
            "<p:Name>", "</p:Name>",
        ]
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 0...40, using: &generator))
                .compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            let found = XMPPacket.properties(of: GPano.namespace, in: Array(text.utf8))
            #expect(found.values.allSatisfy { !$0.isEmpty })
        }
    }

    @Test(
        "4,000 broken or random files have no more scans than places where one may begin, and a cost that fits a number"
    )
    func scans() throws {
        print("seed \(Self.seed)")
        var generator = SeededGenerator(seed: Self.seed)
        let photo = CostlyPhoto.jpeg(side: 64, refinements: 20)
        let header = try JPEGHeader(bytes: photo)
        let palette: [UInt8] = [0xFF, 0xFF, 0xDA, 0xDA, 0xD9, 0xD0, 0xC4, 0xE1, 0x00, 0x01, 0x03, 0x08]
        var found = 0
        for index in 0..<4_000 {
            let bytes =
                index % 2 == 0
                ? Self.mutated(photo, headers: photo.count, using: &generator)
                : (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                    palette.randomElement(using: &generator) ?? 0
                }
            let places = zip(bytes, bytes.dropFirst()).count { $0 == 0xFF && $1 == 0xDA }
            let scans = Array(ScanWalk(bytes))
            #expect(scans.count <= places)
            found += scans.count
            do throws(MediaError) { try DecodeBudget(steps: 1).check(ScanWalk(bytes), of: header) } catch {
                #expect(error.code == .tooLarge)
            }
        }
        #expect(found > 4_000)
    }
}
