import Testing

@testable import ByteClubMedia

@Suite struct XMPPartsTests {
    private static let digest = "0123456789ABCDEF0123456789ABCDEF"
    private static let sphere = "<a xmlns:GPano='\(GPano.namespace)' GPano:ProjectionType='equirectangular'/>"
    private static let note =
        "<a xmlns:xmpNote='http://ns.adobe.com/xmp/note/' xmpNote:HasExtendedXMP='\(digest)'/>"
    /// A packet that tells of a sphere and a place after a recording.
    private static let long = Array(
        """
        <a xmlns:GAudio='http://ns.google.com/photos/1.0/audio/' GAudio:Data='\(String(repeating: "A", count: 150_000))'>
        \(sphere)<b xmlns:exif='http://ns.adobe.com/exif/1.0/' exif:GPSLatitude='47,30N' exif:GPSLongitude='8,30E'/></a>
        """.utf8)

    private static func standard(_ packet: String) -> [UInt8] {
        MakingJPEGs.segment(0xE1, "http://ns.adobe.com/xap/1.0/\0", Array(packet.utf8))
    }

    /// The segments of ``long``, in its order.
    private static func parts(digest: String = digest) -> [[UInt8]] {
        stride(from: 0, to: long.count, by: 60_000).map { offset in
            var body = Array(digest.utf8)
            body.append(uint32: UInt32(long.count))
            body.append(uint32: UInt32(offset))
            body += long[offset..<min(long.count, offset + 60_000)]
            return MakingJPEGs.segment(0xE1, "http://ns.adobe.com/xmp/extension/\0", body)
        }
    }

    private static func photo(_ segments: [[UInt8]]) throws -> [UInt8] {
        [0xFF, 0xD8] + segments.flatMap { $0 } + MakingJPEGs.picture(try MakingJPEGs.quarters())
    }

    private static func kind(_ segments: [[UInt8]]) throws -> Panorama.Kind {
        Panorama(header: try JPEGHeader(bytes: photo(segments))).kind
    }

    @Test("panorama tags count in a second packet, and in an extended one whose parts lie in any order")
    func found() throws {
        #expect(try Self.kind([Self.standard(Self.note), Self.standard(Self.sphere)]) == .sphere)
        let parts = Self.parts()
        #expect(parts.count == 3)
        for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 1, 1, 2, 0]] {
            #expect(try Self.kind([Self.standard(Self.note)] + order.map { parts[$0] }) == .sphere, "\(order)")
            #expect(try Self.kind(order.map { parts[$0] } + [Self.standard(Self.note)]) == .sphere, "\(order)")
        }
        let photo = try Self.photo([Self.standard(Self.note)] + parts)
        #expect(try PhotoDetails(bytes: photo).place == .init(latitude: 47.5, longitude: 8.5))
    }

    @Test("an extended packet that is not announced, or not all there, counts for nothing")
    func incomplete() throws {
        let parts = Self.parts()
        #expect(try Self.kind(parts) == .strip)
        #expect(try Self.kind([Self.standard(Self.note)] + parts.dropFirst()) == .strip)
        #expect(try Self.kind([Self.standard(Self.note)] + parts.dropLast()) == .strip)
        let foreign = Self.parts(digest: String(Self.digest.reversed()))
        #expect(try Self.kind([Self.standard(Self.note)] + foreign) == .strip)
    }

    @Test("a copy to give away and a photo encoded again are the same sphere, without the recording")
    func copies() throws {
        let photo = try Self.photo([Self.standard(Self.note)] + Self.parts())
        let panorama = Panorama(header: try JPEGHeader(bytes: photo))
        let scratch = try Scratch()
        let path = try scratch.write(photo, "photo.jpg")
        try Reencoder.reencode(file: path, quality: 80, to: scratch.path + "small.jpg")
        let small = try FileSource(path: scratch.path + "small.jpg").readAll()
        for copy in [try ShareCopy.make(of: photo, keepsDate: false), small] {
            #expect(Panorama(header: try JPEGHeader(bytes: copy)) == panorama)
            #expect(copy.count < 100_000)
        }
    }
}
