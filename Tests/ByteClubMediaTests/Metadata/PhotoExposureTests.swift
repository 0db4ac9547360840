import Testing

@testable import ByteClubMedia

@Suite("How a photo was exposed") struct PhotoExposureTests {
    private static func read(_ tags: [Int: MakingTIFF.Value], isLittle: Bool = true) throws -> PhotoExposure {
        let exif = MakingTIFF(main: [0x8769: .directory(tags)], isLittle: isLittle).bytes
        return try PhotoDetails(bytes: MakingJPEGs.with(MakingJPEGs.quarters(), exif: exif)).exposure
    }

    @Test("is told as photographers write it, in both byte orders", arguments: [true, false])
    func told(isLittle: Bool) throws {
        let exposure = try Self.read(
            [
                0x829A: .fractions([(10, 2500)]), 0x829D: .fractions([(28, 10)]), 0x8827: .short(100),
                0x920A: .fractions([(43, 10)]), 0xA405: .short(26),
            ], isLittle: isLittle)
        #expect(exposure.phrases == ["1/250 s", "f/2.8", "ISO 100", "4.3 mm (26 mm on 35 mm film)"])
        let long = try Self.read([0x829A: .fractions([(25, 10)]), 0xA405: .short(24), 0x829D: .fractions([(8, 1)])])
        #expect(long.phrases == ["2.5 s", "f/8", "24 mm on 35 mm film"])
    }

    @Test("is left out where it makes no sense")
    func nonsense() throws {
        let exposure = try Self.read([
            0x829A: .fractions([(0, 1)]), 0x829D: .fractions([(1, 0)]), 0x8827: .short(0),
            0x920A: .fractions([(9_000_000, 1)]), 0xA405: .short(0),
        ])
        #expect(exposure == PhotoExposure() && exposure.phrases.isEmpty)
    }
}
