/// The segments before the picture in a copy to give away, each built from scratch.
struct SharedMetadata {
    /// GPano's properties that are numbers and say what the picture shows.
    private static let numbers = [
        "CroppedAreaImageHeightPixels", "CroppedAreaImageWidthPixels", "CroppedAreaLeftPixels", "CroppedAreaTopPixels",
        "FullPanoHeightPixels", "FullPanoWidthPixels", "InitialCameraDolly", "InitialHorizontalFOVDegrees",
        "InitialVerticalFOVDegrees", "InitialViewHeadingDegrees", "InitialViewPitchDegrees", "InitialViewRollDegrees",
        "LargestValidInteriorRectHeight", "LargestValidInteriorRectLeft", "LargestValidInteriorRectTop",
        "LargestValidInteriorRectWidth", "PoseHeadingDegrees", "PosePitchDegrees", "PoseRollDegrees",
        "SourcePhotosCount",
    ]
    private static let words = ["ExposureLockUsed", "IsPhotosphere", "ProjectionType", "UsePanoramaViewer"]
    private static let dates = ["FirstPhotoDate", "LastPhotoDate"]

    let header: JPEGHeader
    let time: PhotoTime?

    /// Writes the segments: JFIF, EXIF, XMP, the colour profile, Adobe's; none that the photo has nothing for.
    func write(_ source: some ByteSource, to write: ([UInt8]) throws(MediaError) -> Void) throws(MediaError) {
        // Without it, or Adobe's, decoders guess the colours' meaning.
        if header.isJFIF { try write([0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]) }
        if let exif { try write(Self.segment(0xE1, Array("Exif\0\0".utf8) + exif)) }
        if let xmp { try write(Self.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + xmp)) }
        for (index, range) in header.iccRanges.enumerated() {
            let part: [UInt8] = [
                UInt8(truncatingIfNeeded: index + 1), UInt8(truncatingIfNeeded: header.iccRanges.count),
            ]
            let body = try source.read(at: range.lowerBound, count: range.count)
            try write(Self.segment(0xE2, Array("ICC_PROFILE\0".utf8) + part + body))
        }
        if let transform = header.adobeTransform {
            try write(Self.segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform]))
        }
    }

    private static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        var segment: [UInt8] = []
        segment.append(segment: marker, body)
        return segment
    }

    /// Orientation, the mark of a phone's panorama with the focal length that gives its angles, and the date.
    private var exif: [UInt8]? {
        var main: [TIFFEntry] = []
        var details: [TIFFEntry] = []
        if header.orientation != 1 { main.append(TIFFEntry(0x0112, short: header.orientation)) }
        if let time {
            details.append(TIFFEntry(0x9003, text: time.exifDate))
            // The zone would reveal the part of the world.
            if let fraction = time.exifFraction { details.append(TIFFEntry(0x9291, text: fraction)) }
        }
        if header.customRendered == 6 {
            details.append(TIFFEntry(0xA401, short: 6))
            if let focal = header.focalLength35mm { details.append(TIFFEntry(0xA405, short: focal)) }
        }
        return main.isEmpty && details.isEmpty ? nil : TIFFEntry.structure(main, exif: details)
    }

    /// A packet of the panorama tags, and of the dates if there is a time; nil without any.
    var xmp: [UInt8]? {
        let tags = header.xmpProperties(of: GPano.namespace)
        // Only values that match their type, and dates in a normal form: a text field could hold anything.
        var kept: [(name: String, value: String)] = []
        for (names, isOfItsKind) in [(Self.numbers, Self.isNumber), (Self.words, Self.isWord)] {
            for name in names {
                if let value = tags[name], isOfItsKind(value) { kept.append((name, value)) }
            }
        }
        for name in time == nil ? [] : Self.dates {
            if let date = tags[name].flatMap(PhotoTime.init(iso8601:)) { kept.append((name, date.xmpDate)) }
        }
        guard !kept.isEmpty else { return nil }
        let attributes = kept.map { "\n   GPano:\($0.name)=\"\($0.value)\"" }.joined()
        return Array(
            """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/">
             <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
              <rdf:Description rdf:about="" xmlns:GPano="\(GPano.namespace)"\(attributes)/>
             </rdf:RDF>
            </x:xmpmeta>
            <?xpacket end="r"?>
            """.utf8)
    }

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.count <= 32 && Double(text)?.isFinite == true
    }

    private static func isWord(_ text: String) -> Bool { text.utf8.count < 40 && text.utf8.allSatisfy(isLetter) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
    }
}

/// One entry of a TIFF directory to be written, big-endian (TIFF 6.0, section 2).
struct TIFFEntry {
    private let tag: Int
    private let type: Int
    private let count: Int
    private let value: [UInt8]

    init(_ tag: Int, short value: Int) {
        self.tag = tag
        type = 3
        count = 1
        self.value = [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value), 0, 0]
    }

    init(_ tag: Int, text: String) {
        self.tag = tag
        type = 2
        value = Array(text.utf8) + [0]
        count = value.count
    }

    private init(_ tag: Int, long value: Int) {
        self.tag = tag
        type = 4
        count = 1
        var bytes: [UInt8] = []
        bytes.append(uint32: UInt32(truncatingIfNeeded: value))
        self.value = bytes
    }

    /// A structure of a main directory and EXIF's; the entries stand in the order of their tags.
    static func structure(_ main: [TIFFEntry], exif: [TIFFEntry]) -> [UInt8] {
        var structure: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8]
        guard !exif.isEmpty else { return structure + directory(main, at: 8) }
        let size = directory(main + [TIFFEntry(0x8769, long: 0)], at: 8).count
        structure += directory(main + [TIFFEntry(0x8769, long: 8 + size)], at: 8)
        return structure + directory(exif, at: 8 + size)
    }

    private static func directory(_ entries: [TIFFEntry], at offset: Int) -> [UInt8] {
        var directory: [UInt8] = []
        var values: [UInt8] = []
        directory.append(uint16: entries.count)
        for entry in entries {
            directory.append(uint16: entry.tag)
            directory.append(uint16: entry.type)
            directory.append(uint32: UInt32(truncatingIfNeeded: entry.count))
            if entry.value.count <= 4 {
                directory += entry.value + [UInt8](repeating: 0, count: 4 - entry.value.count)
            } else {
                directory.append(uint32: UInt32(truncatingIfNeeded: offset + 6 + 12 * entries.count + values.count))
                // Values begin at even places.
                values += entry.value + (entry.value.count.isMultiple(of: 2) ? [] : [0])
            }
        }
        return directory + [0, 0, 0, 0] + values
    }
}
