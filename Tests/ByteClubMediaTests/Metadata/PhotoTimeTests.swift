import Testing

@testable import ByteClubMedia

@Suite struct PhotoTimeTests {
    private static func details(
        _ exif: [Int: MakingTIFF.Value] = [:], gps: [Int: MakingTIFF.Value] = [:], xmp: String? = nil,
        name: String? = nil, isLittle: Bool = true
    ) throws -> PhotoDetails {
        let tags = MakingTIFF(
            main: [
                0x010F: .text("Maker "), 0x0110: .text("Model"), 0x8769: .directory(exif), 0x8825: .directory(gps),
            ], isLittle: isLittle)
        let photo = try MakingJPEGs.quarters(width: 16, height: 8)
        return try PhotoDetails(bytes: MakingJPEGs.with(photo, exif: tags.bytes, xmp: xmp), name: name)
    }

    private static func gps(_ day: String, _ hour: Int, _ minute: Int, _ second: Int) -> [Int: MakingTIFF.Value] {
        [0x1D: .text(day), 0x07: .fractions([(hour, 1), (minute, 1), (second, 1)])]
    }

    @Test("EXIF's date has its fraction and its zone", arguments: [true, false])
    func exif(isLittle: Bool) throws {
        let details = try Self.details(
            [0x9003: .text("2024:02:29 23:59:59"), 0x9291: .text("25"), 0x9011: .text("-03:30")], isLittle: isLittle)
        let time = try #require(details.time)
        #expect(time.seconds == 1_709_263_799)
        #expect(time.nanoseconds == 250_000_000)
        #expect(time.zone == -12_600)
        #expect(time.source == .exif)
        #expect(time.exifDate == "2024:02:29 23:59:59" && time.exifFraction == "250")
        #expect(details.make == "Maker" && details.model == "Model")
    }

    @Test("a date that is none gives way to the next")
    func digitized() throws {
        let time = try #require(
            Self.details([0x9003: .text("0000:00:00 00:00:00"), 0x9004: .text("1970:01:02 00:00:00")]).time)
        #expect(time.seconds == 86_400 && time.zone == nil)
        for date in ["2023:02:29", "1900:02:29", "2024:04:31", "2024:00:10", "2024:01:00", "2024:01:32"] {
            #expect(try Self.details([0x9003: .text(date + " 00:00:00")]).time == nil, "\(date)")
        }
        #expect(try Self.details([0x9003: .text("2000:02:29 00:00:00")]).time != nil)
    }

    @Test("the satellites' clock tells the zone when it fits, and the time when nothing else does")
    func satellites() throws {
        let local: [Int: MakingTIFF.Value] = [0x9003: .text("2021:07:29 11:16:42")]
        let near = try #require(Self.details(local, gps: Self.gps("2021:07:29", 9, 16, 40)).time)
        #expect(near.zone == 7200 && near.seconds == 1_627_550_202 && near.source == .exif)
        let odd = try #require(Self.details(local, gps: Self.gps("2021:07:29", 9, 10, 0)).time)
        #expect(odd.zone == nil && odd.seconds == 1_627_557_402)
        let alone = try #require(Self.details(gps: Self.gps("2021:07:29", 9, 16, 40)).time)
        #expect(alone.zone == 0 && alone.seconds == 1_627_550_200 && alone.source == .gps)
    }

    @Test("XMP's dates count in their order, under any prefix")
    func xmp() throws {
        let both = """
            <a xmlns:e="http://ns.adobe.com/exif/1.0/" xmlns:q='http://ns.adobe.com/xap/1.0/'
              q:CreateDate='2020-01-01' e:DateTimeOriginal="2021-07-29T11:16:42.5+02:00"/>
            """
        let time = try #require(Self.details(xmp: both).time)
        #expect(time.seconds == 1_627_550_202 && time.zone == 7200 && time.nanoseconds == 500_000_000)
        #expect(time.source == .xmp)
        let created = "<p:DateCreated xmlns:p='http://ns.adobe.com/photoshop/1.0/'>2021-07-29T09:16Z</p:DateCreated>"
        #expect(try Self.details(xmp: created).time?.seconds == 1_627_550_160)
        #expect(try Self.details([0x9003: .text("2022:01:01 00:00:00")], xmp: both).time?.source == .exif)
    }

    @Test(
        "a file's name is read as cameras, phones and messengers write it",
        arguments: [
            ("IMG_20240131_153000.jpg", "2024:01:31 15:30:00"), ("2024-01-31 15.30.00.jpg", "2024:01:31 15:30:00"),
            ("2024-01-31 15.30.00-2.jpg", "2024:01:31 15:30:00"), ("PXL_20231218_133224899.jpg", "2023:12:18 13:32:24"),
            ("IMG-20240131-WA0001.jpg", "2024:01:31 00:00:00"), ("20240131153000.jpg", "2024:01:31 15:30:00"),
            ("Screenshot_2024-01-31-15-30-00-12.jpg", "2024:01:31 15:30:00"),
            ("Photo 2024-01-31 at 15.30.00.jpeg", "2024:01:31 15:30:00"),
            ("signal-2024-01-31-153000.jpg", "2024:01:31 15:30:00"),
            ("PANO_20240131_153000.vr.jpg", "2024:01:31 15:30:00"),
            ("20240131_997500.jpg", "2024:01:31 00:00:00"), ("trip 2024-01-31.jpg", "2024:01:31 00:00:00"),
            ("DSC_0042.jpg", nil), ("20241331_000000.jpg", nil), ("12345678.jpg", nil), ("2024.jpg", nil), ("", nil),
            ("a2024-1-3.jpg", nil), ("99999999999999999999999999.jpg", nil),
        ])
    func fileNames(name: String, date: String?) throws {
        let time = try Self.details(name: name).time
        #expect(time?.exifDate == date)
        if date != nil { #expect(time?.source == .fileName && time?.zone == (name.hasPrefix("PXL_") ? 0 : nil)) }
        #expect(try Self.details([0x9003: .text("2022:01:01 00:00:00")], name: name).time?.source == .exif)
    }

    @Test("every moment of the calendar is written as it is read")
    func calendar() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator)
            let clock = WallClockTime(seconds: seconds)
            #expect(clock.seconds == seconds, "seed \(seed)")
            #expect(WallClockTime(clock.exif) == clock, "seed \(seed)")
        }
    }
}
