import Testing

@testable import ByteClubMedia

@Suite struct ShareCopyTests {
    private static let secret = "SECRET-TO-KEEP"
    /// A number that has room for a text, and for more than a segment holds.
    private static let long = String(repeating: "0", count: 60_000) + "1"

    /// A photo with what nobody should be told in every place that a JPEG has for it.
    private static func telling(_ photo: [UInt8], xmp: String = "") -> [UInt8] {
        let secret = Array(secret.utf8)
        let tags = MakingTIFF(
            main: [
                0x010E: .text(Self.secret), 0x010F: .text(Self.secret), 0x0112: .short(3), 0x013B: .text(Self.secret),
                0x8769: .directory([
                    0x9003: .text("2024:01:31 15:30:00"), 0x9011: .text("+01:00"), 0x9291: .text("125"),
                    0x927C: .data(secret), 0x9286: .data(secret), 0xA401: .short(6), 0xA405: .short(28),
                    0xA431: .text(Self.secret),
                ]),
                0x8825: .directory([1: .text("N"), 2: .fractions([(50, 1), (1, 1), (2, 1)]), 27: .data(secret)]),
            ], thumbnail: secret)
        let packet = """
            <x xmlns:g='\(GPano.namespace)' xmlns:e='http://ns.adobe.com/exif/1.0/' e:GPSLatitude='\(Self.secret)'
             g:ProjectionType='equirectangular' g:PoseHeadingDegrees='67.5' g:StitchingSoftware='\(Self.secret)'
             g:FullPanoWidthPixels='\(Self.secret)' g:FirstPhotoDate='2024-01-31T14:30:00Z'
             g:LastPhotoDate='2024-01-31T14:30:02.5 \(Self.secret)&quot;' g:PosePitchDegrees='\(Self.long)' \(xmp)/>
            """
        var jpeg = MakingJPEGs.with(photo, exif: tags.bytes, xmp: packet, icc: [UInt8](repeating: 7, count: 70_000))
        let hidden =
            [0xE3, 0xED, 0xFE].flatMap { MakingJPEGs.segment($0, secret) }
            + MakingJPEGs.segment(0xE2, "MPF\0", secret)
            + MakingJPEGs.segment(0xE1, "http://ns.adobe.com/xmp/extension/\0", secret)
        jpeg.insert(contentsOf: hidden + [0, 0] + secret, at: 2)
        return jpeg + secret
    }

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let text = Array(text.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: text) }
    }

    @Test("only the picture and what showing it needs is in the copy", arguments: [true, false])
    func whitelist(keepsDate: Bool) throws {
        let photo = try MakingJPEGs.quarters()
        let copy = try ShareCopy.make(of: Self.telling(photo), keepsDate: keepsDate)
        #expect(!Self.contains(copy, Self.secret) && !Self.contains(copy, "PosePitch"))
        #expect(Self.contains(copy, "LastPhotoDate=\"2024-01-31T14:30:02.500\"") == keepsDate)
        #expect(MakingJPEGs.picture(copy) == MakingJPEGs.picture(photo))
        let header = try JPEGHeader(bytes: copy)
        #expect(header.orientation == 3 && header.customRendered == 6 && header.focalLength35mm == 28)
        #expect(header.iccRanges.reduce(0) { $0 + $1.count } == 70_000)
        let panorama = Panorama(header: header)
        #expect(panorama.kind == .sphere && panorama.heading == 67.5)
        let details = try PhotoDetails(bytes: copy)
        #expect(details.place == nil && details.make == nil)
        #expect(details.time?.exifDate == (keepsDate ? "2024:01:31 15:30:00" : nil))
        #expect(details.time?.zone == nil)
        #expect(details.time?.nanoseconds == (keepsDate ? 125_000_000 : nil))
        #expect(Self.contains(copy, "FirstPhotoDate") == keepsDate)
        #expect(!Self.contains(copy, "2024") || keepsDate)
        #expect(try ShareCopy.make(of: copy, keepsDate: keepsDate) == copy)
    }

    @Test(
        "every fixture keeps its picture bit for bit, its kind and its colours",
        arguments: Photos.spheres + ["dated", "partial", "phone-strip", "portrait", "press", "progressive"])
    func fixtures(name: String) throws {
        let scratch = try Scratch()
        let target = scratch.path + "copy.jpg"
        try ShareCopy.write(file: Photos.path(name), to: target, keepsDate: false)
        let original = try Photos.bytes(name)
        let copy = try FileSource(path: target).readAll()
        #expect(scratch.names == ["copy.jpg"])
        #expect(MakingJPEGs.picture(copy) == MakingJPEGs.picture(original))
        #expect(try MakingJPEGs.decoded(copy) == MakingJPEGs.decoded(original))
        let (before, after) = (try JPEGHeader(bytes: original), try JPEGHeader(bytes: copy))
        #expect(Panorama(header: before) == Panorama(header: after))
        #expect(before.iccRanges.map(\.count) == after.iccRanges.map(\.count))
        #expect(try PhotoDetails(bytes: copy).taken == nil)
        try ShareCopy.write(file: target, to: target, keepsDate: false)
        #expect(try FileSource(path: target).readAll() == copy)
    }

    @Test("comments between the scans of a progressive photo stay behind, and a cut one is ended")
    func scans() throws {
        let photo = try Photos.bytes("progressive")
        var places: [Int] = []
        for index in photo.indices.dropLast() where photo[index] == 0xFF && photo[index + 1] == 0xDA {
            places.append(index)
        }
        #expect(places.count > 3)
        var telling = photo
        for place in places.reversed() {
            telling.insert(contentsOf: MakingJPEGs.segment(0xFE, Array(Self.secret.utf8)), at: place)
        }
        let copy = try ShareCopy.make(of: telling, keepsDate: false)
        #expect(!Self.contains(copy, Self.secret))
        #expect(MakingJPEGs.picture(copy) == MakingJPEGs.picture(photo))
        for size in [places[2] + 1, places[2] + 4, places[3] + 500, photo.count - 1] {
            let cut = try ShareCopy.make(of: Array(photo.prefix(size)), keepsDate: false)
            #expect(cut.suffix(2) == [0xFF, 0xD9])
            #expect(try MakingJPEGs.decoded(cut).width == 1024)
        }
    }

    @Test("whatever a mark falls on the edge of a piece with, the copy is the same")
    func edges() throws {
        // Coded data of many pieces: no marker but restarts, stuffed bytes and filling.
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        var data: [UInt8] = []
        while data.count < 400_000 {
            data.append(UInt8.random(in: 0...254, using: &generator))
            if data.count % 65_536 > 65_520 {
                data += [[0xFF, 0], [0xFF, 0xD3], [0xFF, 0xFF, 0]].randomElement(using: &generator) ?? []
            }
        }
        let photo = try MakingJPEGs.quarters()
        let start = try JPEGHeader(bytes: photo).scanStart
        let jpeg = Array(photo[..<start]) + data + [0xFF, 0xD9] + Array(Self.secret.utf8)
        let copy = try ShareCopy.make(of: jpeg, keepsDate: false)
        #expect(copy.suffix(data.count + 2) == data + [0xFF, 0xD9], "seed \(seed)")
        for size in 65_532...65_537 {
            let end = Array(data.prefix(size).dropLast()) + [0]
            let short =
                Array(photo[..<start]) + end + MakingJPEGs.segment(0xFE, Array(Self.secret.utf8)) + [0xFF, 0xD9]
            let copy = try ShareCopy.make(of: short, keepsDate: false)
            #expect(copy.suffix(end.count + 2) == end + [0xFF, 0xD9], "seed \(seed), size \(size)")
        }
    }

    @Test("of a PNG file the picture and its colours are copied, not what is said of it")
    func png() throws {
        let secret = Array(Self.secret.utf8)
        let kept: [(String, [UInt8])] = [("gAMA", [0, 0, 0xB1, 0x8F]), ("sRGB", [0])]
        let told = [("tEXt", secret), ("eXIf", secret), ("iTXt", secret), ("tIME", secret), ("prVt", secret)]
        let plain = MakingPNGs.plain(type: 2, pixel: [9, 8, 7], chunks: kept)
        let telling = MakingPNGs.plain(type: 2, pixel: [9, 8, 7], chunks: told + kept + told)
        #expect(try ShareCopy.make(of: telling + secret, keepsDate: true) == plain)
        #expect(throws: MediaError.self) { try ShareCopy.make(of: Array(telling.dropLast(20)), keepsDate: true) }
    }

    @Test("what is no photo makes no copy and no file")
    func refusals() throws {
        let scratch = try Scratch()
        let text = scratch.path + "text.jpg"
        try NewFile.write(Array("no photo".utf8), to: text)
        let error = #expect(throws: MediaError.self) {
            try ShareCopy.write(file: text, to: scratch.path + "copy.jpg", keepsDate: false)
        }
        #expect(error?.code == .notAJPEG && scratch.names == ["text.jpg"])
    }
}
