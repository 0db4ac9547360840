import TestSupport
import Testing

@testable import ByteClubMedia

@Suite struct DecodeBudgetTests {
    /// The kinds of scans that `jpeg_simple_progression` of libjpeg makes: components, first and last coefficient, and
    /// the bits before and after.
    private static let colourScans: [([UInt8], UInt8, UInt8, UInt8)] = [
        ([1, 2, 3], 0, 0, 0x01), ([1], 1, 5, 0x02), ([3], 1, 63, 0x01), ([2], 1, 63, 0x01), ([1], 6, 63, 0x02),
        ([1], 1, 63, 0x21), ([1, 2, 3], 0, 0, 0x10), ([3], 1, 63, 0x10), ([2], 1, 63, 0x10), ([1], 1, 63, 0x10),
    ]

    private static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 0xFF)] + body
    }

    /// A file of headers alone, in colour with the first component of double width and height.
    private static func headers(
        width: Int, height: Int, frame: UInt8 = 0xC2, scans: [([UInt8], UInt8, UInt8, UInt8)]
    ) -> [UInt8] {
        let size = [height, width].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        var file: [UInt8] = [0xFF, 0xD8]
        file += segment(frame, [8] + size + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
        for (components, first, last, bits) in scans {
            file += segment(
                0xDA, [UInt8(components.count)] + components.flatMap { [$0, 0] } + [first, last, bits])
        }
        return file + [0xFF, 0xD9]
    }

    private static func check(_ file: [UInt8]) throws -> MediaError? {
        let header = try JPEGHeader(bytes: file)
        do throws(MediaError) {
            try DecodeBudget().check(ScanWalk(file), of: header)
            return nil
        } catch {
            return error
        }
    }

    @Test("a small photo of four hundred scans costs nobody half a minute: it is refused before it is decoded")
    func manyScans() throws {
        let photo = CostlyPhoto.jpeg(side: 8000, refinements: 400)
        #expect(photo.count < 200_000)
        let error = #expect(throws: MediaError.self) {
            _ = try Thumbnail.make(MemorySource(bytes: photo), width: 64, height: 64, format: .jpeg, quality: 82)
        }
        #expect(error?.code == .tooLarge && error?.message.contains("passes") == true)
    }

    @Test("nor does a photo whose arithmetic code says a picture of 500 million pixels in a few bytes")
    func arithmetic() throws {
        for frame: UInt8 in [0xC9, 0xCA] {
            let scans: [([UInt8], UInt8, UInt8, UInt8)] = [([1, 2, 3], 0, frame == 0xC9 ? 63 : 0, 0), ([1], 1, 63, 0)]
            let huge = Self.headers(width: 22_000, height: 22_000, frame: frame, scans: scans)
            #expect(try Self.check(huge)?.code == .tooLarge)
            let small = Self.headers(width: 2000, height: 2000, frame: frame, scans: scans)
            #expect(try Self.check(small) == nil)
        }
    }

    @Test("a photo costs its scans times its blocks, by what each scan looks at")
    func cost() throws {
        // 1,000 by 1,000 blocks, of which a refining scan looks at all coefficients but the first.
        let most = (DecodeBudget().steps - 32_000_000) / 63_000_000
        for (refinements, isTaken) in [(0, true), (1, true), (most, true), (most + 1, false), (500, false)] {
            let photo = CostlyPhoto.jpeg(side: 8000, refinements: refinements)
            #expect(try (Self.check(photo) == nil) == isTaken, "\(refinements)")
        }
        // The same scans of a picture of a hundredth of the size.
        #expect(try Self.check(CostlyPhoto.jpeg(side: 800, refinements: 100 * most)) == nil)
    }

    @Test("every honest panorama passes: 140 million pixels in the ten scans that libjpeg makes")
    func honest() throws {
        #expect(try Self.check(Self.headers(width: 16_384, height: 8544, scans: Self.colourScans)) == nil)
        // Plain files of several scans, one for each component, of any size that is taken at all.
        let plain: [([UInt8], UInt8, UInt8, UInt8)] = [([1], 0, 63, 0), ([2], 0, 63, 0), ([3], 0, 63, 0)]
        #expect(try Self.check(Self.headers(width: 30_000, height: 15_000, frame: 0xC0, scans: plain)) == nil)
        for name in ["progressive", "press"] {
            let bytes = try Photos.bytes(name)
            #expect(try Self.check(bytes) == nil)
        }
        // A file of one scan is bounded by its size: however large, its scans are not counted.
        let blank = MakingJPEGs.resized(try MakingJPEGs.quarters(), width: 30_000, height: 15_000)
        let small = try Thumbnail.make(MemorySource(bytes: blank), width: 64, height: 64, format: .jpeg, quality: 82)
        #expect(try JPEGHeader(bytes: small).width == 64)
    }

    @Test("scans are found where a decoder finds them, and no others")
    func walk() throws {
        func scans(_ pieces: [UInt8]...) -> [UInt8] {
            ScanWalk([0xFF, 0xD8] + pieces.flatMap { $0 }).map { $0.components.first ?? 0 }
        }
        let (one, two) = (Self.segment(0xDA, [1, 1, 0, 0, 63, 0]), Self.segment(0xDA, [1, 2, 0, 1, 5, 0x21]))
        #expect(scans(one, [1, 2, 3], two) == [1, 2])
        // A stuffed byte, restarts, bytes that fill, a marker in the middle of the data, and what is between segments.
        #expect(scans(one, [0xFF, 0x00, 0xDA, 0xFF, 0xD0, 0xDA, 0xFF, 0xFF, 0x00], two) == [1, 2])
        #expect(scans(one, [9, 0xFF, 0xFF], two) == [1, 2])
        #expect(scans(one, [9], Self.segment(0xDD, [0, 4]), [7, 7], two) == [1, 2])
        // What looks like a scan inside a segment is none, and nothing counts after the end.
        #expect(scans(one, Self.segment(0xE1, two), two) == [1, 2])
        #expect(scans(one, [0xFF, 0xD9], two) == [1])
        // A length that is too short is one of two bytes; one that is too long ends the file.
        #expect(scans(one, [0xFF, 0xE1, 0, 0], two) == [1, 2])
        #expect(scans(one, [0xFF, 0xE1, 0xFF, 0xFF], two) == [1])
        // A scan that is cut short ends the file for a decoder; the walk goes on and finds no more than there are.
        #expect(scans([0xFF, 0xDA, 0, 3, 1], two) == [2])
        for end in [[], [0xFF], [0xFF, 0xFF], [0xFF, 0xDA], [0xFF, 0xDA, 0], [0xFF, 0xDA, 0, 8]] as [[UInt8]] {
            #expect(scans(end).isEmpty && scans(one, end) == [1])
        }
        let second = try #require(ScanWalk([0xFF, 0xD8] + two).first { _ in true })
        #expect(second.coefficients == 5 && second.isRefining)
    }
}
