import Testing

@testable import ByteClubMedia

@Suite struct XMPPlaceTests {
    private static func packet(_ latitude: String, _ longitude: String) -> String {
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="\(latitude)">
        <exif:GPSLongitude>\(longitude)</exif:GPSLongitude></rdf:Description></rdf:RDF></x:xmpmeta>
        """
    }

    private static func place(_ latitude: String, _ longitude: String) throws -> PhotoDetails.Place? {
        let photo = MakingJPEGs.with(try MakingJPEGs.quarters(width: 16, height: 16), xmp: packet(latitude, longitude))
        return try PhotoDetails(bytes: photo).place
    }

    @Test("a place that XMP alone tells of is read in each spelling")
    func spellings() throws {
        let expected = PhotoDetails.Place(latitude: 47.418717, longitude: -8.5075)
        #expect(try Self.place("47,25.123N", "8,30.45W") == expected)
        #expect(try Self.place("47,25,7.38N", "8,30,27W") == expected)
        #expect(try Self.place("47.4187167", "-8.5075") == expected)
        #expect(try Self.place("47.4187167N", "8.5075W") == expected)
        #expect(try Self.place("33,30.25S", "151,30.25E") == .init(latitude: -33.504167, longitude: 151.504167))
        #expect(try Self.place("0,0N", "180,0E") == .init(latitude: 0, longitude: 180))
    }

    @Test(
        "what is no place on Earth is none",
        arguments: [
            ("", "8,30W"), ("N", "8,30W"), ("47,25.123", "8,30W"), ("47,60N", "8,30W"), ("90,0.1N", "8,30W"),
            ("47,25N", "180.5E"), ("47,25E", "8,30W"), ("-47,25N", "8,30W"), ("47,,25N", "8,30W"), ("nan", "8"),
            ("0x10", "8"), ("1e1", "8"), ("47,1,2,3N", "8"), ("47.1.2", "8"), ("--47", "8"), ("\u{664}7", "8"),
        ])
    func nonsense(latitude: String, longitude: String) throws {
        #expect(try Self.place(latitude, longitude) == nil)
    }

    @Test("EXIF's place goes before that of XMP")
    func order() throws {
        let photo = try Photos.bytes("dated")
        let own = try #require(PhotoDetails(bytes: photo).place)
        let other = MakingJPEGs.with(photo, xmp: Self.packet("1,0N", "2,0E"))
        #expect(try PhotoDetails(bytes: other).place == own)
    }
}
