import Glibc
import Testing

@testable import ByteClubMedia

/// Photos whose panorama tags are spelt in every way that XML and JPEG allow; `BYTECLUB_PHOTOS` says how many, 1,000
/// without it.
@Suite struct SpellingTests {
    private static let count = unsafe getenv("BYTECLUB_PHOTOS").flatMap { unsafe Int(String(cString: $0)) } ?? 1000

    @Test("no spelling, prefix, encoding or order of segments is missed")
    func spellings() throws {
        let seed =
            unsafe getenv("BYTECLUB_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
            ?? UInt64.random(in: .min ... .max)
        print("photos of seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let picture = MakingJPEGs.picture(try MakingJPEGs.quarters(width: 48, height: 24))
        for number in 0..<Self.count {
            var photo = SpelledPhoto(generator: generator)
            let jpeg = photo.jpeg(picture)
            generator = photo.generator
            let panorama = Panorama(header: try JPEGHeader(bytes: jpeg))
            let expected = photo.expected
            let isRight =
                panorama.kind == expected.kind
                && abs((panorama.hFOV ?? -1) - expected.across) < 0.001
                && abs((panorama.vFOV ?? -1) - expected.down) < 0.001
                && abs(panorama.yaw - expected.yaw) < 0.001 && abs(panorama.pitch - expected.pitch) < 0.001
                && panorama.heading == expected.heading
            #expect(isRight, "seed \(seed), photo \(number): \(panorama)\n\(photo.packet)")
            let copy = Panorama(header: try JPEGHeader(bytes: ShareCopy.make(of: jpeg, keepsDate: false)))
            #expect(copy == panorama, "seed \(seed), photo \(number)")
        }
    }
}

/// A photo with tags of random values in a random spelling.
private struct SpelledPhoto {
    var generator: SeededGenerator
    private(set) var packet = ""
    private(set) var expected = (
        kind: Panorama.Kind.flat, across: -1.0, down: -1.0, yaw: 0.0, pitch: 0.0, heading: Double?.none
    )
    private var tags: [(name: String, value: String)] = []

    init(generator: SeededGenerator) {
        self.generator = generator
        chooseTags()
        spell()
    }

    private mutating func chance(_ part: Int, of whole: Int) -> Bool {
        Int.random(in: 0..<whole, using: &generator) < part
    }

    private mutating func one<Element>(of choices: [Element]) -> Element {
        choices[Int.random(in: choices.indices, using: &generator)]
    }

    private mutating func chooseTags() {
        let full = 2 * Int.random(in: 50...10_000, using: &generator)
        let isWhole = chance(1, of: 3)
        let width = isWhole ? full : Int.random(in: 1...full, using: &generator)
        let height = isWhole ? full / 2 : Int.random(in: 1...full / 2, using: &generator)
        let left = Int.random(in: 0...full - width, using: &generator)
        let top = Int.random(in: 0...full / 2 - height, using: &generator)
        let isCylinder = chance(1, of: 4)
        tags = [
            (
                "ProjectionType",
                one(of: isCylinder ? ["cylindrical", "Cylindrical"] : ["equirectangular", "Equirectangular"])
            ),
            ("CroppedAreaImageWidthPixels", "\(width)"), ("CroppedAreaImageHeightPixels", "\(height)"),
            ("FullPanoWidthPixels", "\(full)"), ("CroppedAreaLeftPixels", "\(left)"),
            ("CroppedAreaTopPixels", "\(top)"),
        ]
        if chance(3, of: 4) { tags.append(("FullPanoHeightPixels", "\(full / 2)")) }
        if chance(1, of: 2) { tags.append(("UsePanoramaViewer", one(of: ["True", "true"]))) }
        if chance(1, of: 2) {
            let heading = Double(Int.random(in: 0..<3600, using: &generator)) / 10
            tags.append(("PoseHeadingDegrees", "\(heading)"))
            expected.heading = heading
        }
        expected.across = 360 * Double(width) / Double(full)
        expected.down = 360 * Double(height) / Double(full)
        expected.yaw = 360 * (Double(left) + Double(width) / 2) / Double(full) - 180
        expected.pitch = 90 - 360 * (Double(top) + Double(height) / 2) / Double(full)
        let isAll = expected.across >= 359.64 && expected.down >= 179.82
        expected.kind = isCylinder ? .cylinder : isAll ? .sphere : .partialSphere
        tags.shuffle(using: &generator)
    }

    private mutating func blanks(_ least: Int = 0) -> String {
        (0..<Int.random(in: least...least + 2, using: &generator)).map { _ in one(of: [" ", "\n", "\t", "\r\n"]) }
            .joined()
    }

    /// The value in quotes, some of its characters as references.
    private mutating func quoted(_ value: String) -> String {
        let quote = one(of: ["\"", "'"])
        return quote + escaped(value) + quote
    }

    private mutating func escaped(_ value: String) -> String {
        value.unicodeScalars.map { scalar in
            switch Int.random(in: 0..<40, using: &generator) {
            case 0: "&#\(scalar.value);"
            case 1: "&#x\(String(scalar.value, radix: 16));"
            default: String(scalar)
            }
        }.joined()
    }

    private mutating func spell() {
        let prefix = one(of: ["GPano", "gpano", "p", "ns1", "_x-2", "größe"])
        let outer = one(of: ["rdf:Description", "Description", "x:y"])
        let binding = "xmlns:\(prefix)\(blanks())=\(blanks())\(quoted(GPano.namespace))"
        let isOutside = chance(1, of: 2)
        var attributes = isOutside ? [] : [binding]
        var elements: [String] = []
        for tag in tags {
            if chance(1, of: 2) {
                attributes.append("\(prefix):\(tag.name)\(blanks())=\(blanks())\(quoted(tag.value))")
            } else if chance(1, of: 6) {
                let name = one(of: [tag.name, "z:\(tag.name)"])
                let space = name == tag.name ? "xmlns" : "xmlns:z"
                let text = blanks() + escaped(tag.value) + blanks()
                elements.append("<\(name) \(space)=\(quoted(GPano.namespace))>\(text)</\(name)>")
            } else {
                let text = blanks() + escaped(tag.value) + blanks()
                elements.append("<\(prefix):\(tag.name)\(blanks())>\(text)</\(prefix):\(tag.name)\(blanks())>")
            }
            if chance(1, of: 8) { elements.append("<!-- <\(prefix):\(tag.name)>0</\(prefix):\(tag.name)> -->") }
            if chance(1, of: 8) { elements.append("<q:\(tag.name) xmlns:q='urn:other'>0</q:\(tag.name)>") }
        }
        attributes.append("\(prefix)x:FullPanoWidthPixels='1' xmlns:\(prefix)x='http://ns.adobe.com/xap/1.0/'")
        attributes.shuffle(using: &generator)
        let body = elements.map { $0 + blanks() }.joined()
        let list = attributes.map { blanks(1) + $0 }.joined()
        let inner = "<\(outer)\(list)\(blanks())>\(body)</\(outer)>"
        packet = "<x:xmpmeta xmlns:x='adobe:ns:meta/'\(isOutside ? " " + binding : "")>\(inner)</x:xmpmeta>"
        if chance(1, of: 2) {
            packet = "<?xpacket begin='\u{FEFF}' id='W5M0MpCehiHzreSzNTczkc9d'?>\(packet)<?xpacket end='w'?>"
        }
    }

    private mutating func encoded() -> [UInt8] {
        let text = one(of: ["", "\u{FEFF}"]) + packet
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        case 1: return text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        case 2:
            return text.unicodeScalars.flatMap {
                [0, UInt8($0.value >> 16), UInt8($0.value >> 8 & 255), UInt8($0.value & 255)]
            }
        default: return Array(text.utf8)
        }
    }

    /// The photo: segments that a camera writes in any order, with filling and other data between them.
    mutating func jpeg(_ picture: [UInt8]) -> [UInt8] {
        var segments = [MakingJPEGs.segment(0xE1, "http://ns.adobe.com/xap/1.0/\0", encoded())]
        let junk = (0..<Int.random(in: 0...3000, using: &generator)).map { _ in
            UInt8.random(in: .min ... .max, using: &generator)
        }
        let exif = MakingTIFF(main: [0x0112: .short(1)], thumbnail: junk, isLittle: chance(1, of: 2)).bytes
        if chance(2, of: 3) { segments.append(MakingJPEGs.segment(0xE1, "Exif\0\0", exif)) }
        if chance(1, of: 2) { segments.append(MakingJPEGs.segment(0xE0, "JFIF\0", [1, 1, 0, 0, 1, 0, 1, 0, 0])) }
        if chance(1, of: 3) { segments.append(MakingJPEGs.segment(0xE2, "ICC_PROFILE\0", [1, 1] + junk)) }
        if chance(1, of: 3) { segments.append(MakingJPEGs.segment(0xE2, "MPF\0", junk)) }
        if chance(1, of: 3) { segments.append(MakingJPEGs.segment(0xE1, "http://ns.adobe.com/xmp/extension/\0", junk)) }
        if chance(1, of: 3) { segments.append(MakingJPEGs.segment(0xED, "Photoshop 3.0\0", junk)) }
        if chance(1, of: 3) { segments.append(MakingJPEGs.segment(0xFE, junk)) }
        segments.shuffle(using: &generator)
        let fillings = segments.map { _ in chance(1, of: 8) ? [UInt8](repeating: 0xFF, count: 2) : [] }
        return [0xFF, 0xD8] + zip(fillings, segments).flatMap { $0 + $1 } + picture
    }
}
