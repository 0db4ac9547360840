import Testing

@testable import ByteClubMedia

@Suite struct PhotoDetailsTests {
    @Test("the date in UTC and the place are what ExifTool wrote")
    func real() throws {
        let details = try PhotoDetails(file: Photos.path("dated"))
        #expect(details.taken == 1_375_720_812)
        #expect(details.place == PhotoDetails.Place(latitude: 50.6089, longitude: 6.4381))
        #expect(try PhotoDetails(bytes: Photos.bytes("dated")) == details)
        let plain = try PhotoDetails(file: Photos.path("portrait"))
        #expect(plain.taken == nil && plain.place == nil)
    }

    @Test("sides, zones and both byte orders are understood; nonsense is left out", arguments: [true, false])
    func made(isLittle: Bool) throws {
        func read(_ tags: TIFFBytes) throws -> PhotoDetails {
            try PhotoDetails(bytes: MakingJPEGs.with(MakingJPEGs.quarters(), exif: tags.bytes(isLittle: isLittle)))
        }
        var tags = TIFFBytes(date: "2024:02:29 23:59:59", zone: "-03:30", sides: ("S", "W"), degrees: (33, 151))
        let details = try read(tags)
        #expect(details.taken == 1_709_263_799)
        #expect(details.place == PhotoDetails.Place(latitude: -33.504167, longitude: -151.504167))
        tags.zone = "nowhere"
        #expect(try read(tags).taken == 1_709_251_199)
        for date in ["0000:00:00 00:00:00", "2024:13:01 00:00:00", "2024-02-29", "    :  :     :  :  "] {
            tags.date = date
            #expect(try read(tags).taken == nil)
        }
        tags.degrees = (91, 10)
        #expect(try read(tags).place == nil)
        tags.degrees = (10, 10)
        tags.divisor = 0
        #expect(try read(tags).place == nil)
    }

    @Test("no bytes in a photo's tags break the reader")
    func hostile() throws {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let photo = try Photos.bytes("dated")
        for round in 0..<2000 {
            var bytes = photo
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: 20..<500, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
            }
            if let place = try? PhotoDetails(bytes: bytes).place {
                #expect(abs(place.latitude) <= 90 && abs(place.longitude) <= 180, "seed \(seed), round \(round)")
            }
        }
    }
}

/// A TIFF structure with a date and a place, made for a test.
private struct TIFFBytes {
    var date: String
    var zone: String
    var sides: (String, String)
    var degrees: (Int, Int)
    var divisor = 1

    func bytes(isLittle: Bool) -> [UInt8] {
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittle ? bytes : bytes.reversed()
        }
        func field(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value + [UInt8](repeating: 0, count: 4 - value.count)
        }
        func angle(_ degrees: Int) -> [UInt8] {
            [(degrees, divisor), (30, 1), (15, 1)].flatMap { number($0.0, 4) + number($0.1, 4) }
        }
        let texts = [date, zone].map { Array($0.utf8) + [0] }
        // Directories at 8 (2 entries), 38 (2) and 68 (4); values from 122 on.
        let places = [122, 122 + texts[0].count, 122 + texts[0].count + texts[1].count]
        let main = number(2, 2) + field(0x8769, 4, 1, number(38, 4)) + field(0x8825, 4, 1, number(68, 4)) + number(0, 4)
        let details =
            number(2, 2) + field(0x9003, 2, texts[0].count, number(places[0], 4))
            + field(0x9011, 2, texts[1].count, number(places[1], 4)) + number(0, 4)
        let position =
            number(4, 2) + field(1, 2, 2, Array(sides.0.utf8)) + field(2, 5, 3, number(places[2], 4))
            + field(3, 2, 2, Array(sides.1.utf8)) + field(4, 5, 3, number(places[2] + 24, 4)) + number(0, 4)
        let head: [UInt8] = (isLittle ? [0x49, 0x49] : [0x4D, 0x4D]) + number(42, 2) + number(8, 4)
        return head + main + details + position + texts[0] + texts[1] + angle(degrees.0) + angle(degrees.1)
    }
}
